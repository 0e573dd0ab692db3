// The tables card and record: 64 configurations in a row (store/encoding/block.h).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/encoding/block.h"
#include "store/postgresql/connection.h"
#include "store/rows.h"

namespace opwright::store::postgresql {

// Inside the transaction of a Writer.
class BlockWriter {
 public:
  // Cards of this configuration are made again before the commit.
  void change(ConfigId configuration) { changed_.insert(range_group(configuration.value)); }
  // Its parts; of two the later stay.
  Status put_parts(Connection& connection, ConfigId configuration, const std::string& parts);
  Status finish(Connection& connection);

 private:
  Status write_records(Connection& connection);
  std::set<std::int64_t> changed_;             // groups
  std::map<std::int64_t, std::string> parts_;  // by configuration; not written yet
  std::size_t bytes_ = 0;
};

// Blocks as questions read them: those of many configurations are fetched together.
class BlockReader {
 public:
  Status fetch(Connection& connection, std::span<const ConfigId> ids, bool with_records);
  const CardBlock* cards(std::int64_t group) const;
  const RecordBlock* records(std::int64_t group) const;  // nullptr: none

 private:
  std::unordered_map<std::int64_t, CardBlock> cards_;
  std::unordered_map<std::int64_t, RecordBlock> records_;
};

}  // namespace opwright::store::postgresql

// Is a store sound? Looks at all of it and lists what is not, without stopping at the first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/sqlite/sql.h"

namespace opwright::store {

enum class Depth {
  kRows,       // SQLite's quick check, and the checksum of every row
  kEverything  // also: indexes against tables, references, every pack opened, every list of the index decoded
};

struct Inspection {
  static constexpr std::size_t kMostListed = 200;
  std::int64_t schema = 0;
  bool has_checksums = false;  // an older schema has none
  std::int64_t rows = 0;       // whose checksum was made again
  std::int64_t damages = 0;
  std::vector<std::string> listed;  // the first kMostListed of them

  void add(std::string what) {
    if (static_cast<std::size_t>(damages++) < kMostListed) listed.push_back(std::move(what));
  }
};

// An error only when there is nothing to look at: no such file, not a store of ours, locked. Changes nothing.
Result<Inspection> inspect(const std::string& path, int wait_ms, Depth depth);

// Every entry of the index behind `--where`: a term and a configuration that has it.
Status for_each_posting(const std::string& path, int wait_ms,
                        const std::function<void(std::uint64_t term, std::int64_t configuration)>& use);

}  // namespace opwright::store

// The writing side of the table `tally`: collects what a transaction changes, and writes it before the commit.
//
// Sums are added up, never counted anew: damage that was there before stays visible.
#pragma once

#include <map>
#include <utility>

#include "store/sqlite/sql.h"
#include "store/sqlite/tables.h"

namespace opwright::store::sqlite {

class Tally {
 public:
  void add(Part part, std::int64_t group, std::int64_t sum) { change(part, group, 1, sum); }
  void replace(Part part, std::int64_t group, std::int64_t old_sum, std::int64_t new_sum) {
    change(part, group, 0,
           static_cast<std::int64_t>(static_cast<std::uint64_t>(new_sum) - static_cast<std::uint64_t>(old_sum)));
  }
  void remove(Part part, std::int64_t group, std::int64_t sum) {
    change(part, group, -1, static_cast<std::int64_t>(-static_cast<std::uint64_t>(sum)));
  }
  // Into the open transaction of `database`; what was collected is empty then. Fails when a row of the table is
  // damaged.
  Status write(Database& database);
  void clear() { groups_.clear(); }

  struct Group {
    std::int64_t rows = 0;
    std::uint64_t total = 0;  // of the checksums, without carry
    friend bool operator==(const Group&, const Group&) = default;
  };

 private:
  void change(Part part, std::int64_t group, std::int64_t rows, std::int64_t sum) {
    Group& entry = groups_[{part, group}];
    entry.rows += rows;
    entry.total += static_cast<std::uint64_t>(sum);
  }

  std::map<std::pair<Part, std::int64_t>, Group> groups_;
  Statement find_, put_;
};

// Its own checksum of a row of `tally`.
std::int64_t tally_sum(Part part, std::int64_t group, const Tally::Group& content);
// The row that "SELECT rows, total, sum FROM tally WHERE part = ? AND chunk = ?" stands on; fails when it is damaged.
Result<Tally::Group> read_tally(const Statement& row, Part part, std::int64_t group, const std::string& path);

// What is said of damage, wherever it is met.
Error damage(const std::string& path, const std::string& what);

}  // namespace opwright::store::sqlite

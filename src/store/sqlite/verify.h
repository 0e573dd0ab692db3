// The reading side of checksums: rows are what was written, and all of them are there.
//
// A group of rows is looked at when something of it is first asked for, and not again: a Verifier belongs to a
// connection that sees one state of the store, or is told to forget.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "store/sqlite/sql.h"
#include "store/sqlite/sums.h"
#include "store/sqlite/tables.h"
#include "store/sqlite/tally.h"

namespace opwright::store::sqlite {

class Verifier {
 public:
  using Use = std::function<Status(const Statement& row)>;  // its columns are those of the part

  // An older store has no checksums: nothing is verified then.
  void set_schema(std::int64_t version);
  bool verifies() const { return verifies_; }
  void forget();
  // Damage is told, and reading goes on behind it; else the first is an error. Only failures of SQLite end it then.
  void tell_damage_to(std::function<void(const std::string& what)> listener) { listener_ = std::move(listener); }
  std::int64_t rows_verified() const { return rows_verified_; }

  Status check(Database& database, Part part, std::int64_t group);
  Status check_all(Database& database, Part part);
  // Hands over the rows of a group. Each is verified before; that none is missing, after the last.
  Status read(Database& database, Part part, std::int64_t group, const Use& use);
  // The row that `row` stands on, with the columns of the part from column 0 and its `sum` behind them.
  Status check_row(const Database& database, Part part, const Statement& row);

  // The number of rows of the table is what `tally` says of all its groups: none is outside of them.
  Status check_count(Database& database, Part part);
  // The groups of a part that have rows, as `tally` says.
  static Result<std::vector<std::int64_t>> groups(Database& database, Part part);
  // What `tally` says of a group; no row there: nothing.
  Result<Tally::Group> tallied(Database& database, Part part, std::int64_t group);

 private:
  static constexpr std::size_t kParts = 21;
  Status found_damage(const Database& database, const std::string& what);
  bool verifies_ = true;
  std::int64_t schema_ = INT64_MAX;  // of the store: this build's, where nobody said another
  std::int64_t rows_verified_ = 0;
  std::function<void(const std::string&)> listener_;
  std::array<std::unordered_set<std::int64_t>, kParts> seen_;
  std::array<bool, kParts> all_seen_{};
  std::array<Statement, kParts> scans_;
  Statement find_tally_;
  RowSum sum_{Part::kOperation};
};

// "configuration_id 17" and the like.
std::string row_name(const TablePart& part, const Statement& row);

}  // namespace opwright::store::sqlite

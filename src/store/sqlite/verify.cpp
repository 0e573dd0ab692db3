#include "store/sqlite/verify.h"

#include <fmt/format.h>

#include "store/sqlite/schema.h"

namespace opwright::store::sqlite {
namespace {

std::size_t place(Part part) { return static_cast<std::size_t>(part); }

std::string scan_sql(const TablePart& part, std::int64_t schema) {
  std::string sql =
      fmt::format("SELECT {}{} FROM {}", column_list(part, schema), part.has_sums ? ", sum" : "", part.table);
  if (part.grouping == Grouping::kWhole) return sql;
  if (*part.index != '\0') sql += fmt::format(" INDEXED BY {}", part.index);
  return sql +
         fmt::format(" WHERE {0} BETWEEN ?1 AND ?2 ORDER BY {0}",
                     part.columns[static_cast<std::size_t>(part.grouped_by)]) +
         (part.grouping == Grouping::kEach && part.named_by > 1 ? ", place" : "");
}

// The bounds of a group, in the statement of scan_sql().
void bind_group(Statement& scan, const TablePart& part, std::int64_t group) {
  const auto bits = static_cast<std::uint64_t>(group);
  switch (part.grouping) {
    case Grouping::kWhole:
      return;
    case Grouping::kEach:
      scan.bind(1, group).bind(2, group);
      return;
    case Grouping::kRange:
      scan.bind(1, group << kRangeBits).bind(2, (group << kRangeBits) + (1 << kRangeBits) - 1);
      return;
    case Grouping::kTopBits:
      scan.bind(1, static_cast<std::int64_t>(bits << 58))
          .bind(2, static_cast<std::int64_t>((bits << 58) + ((std::uint64_t{1} << 58) - 1)));
      return;
    case Grouping::kPrefix: {
      static const auto bounds = [] {
        std::array<std::pair<std::string, std::string>, 64> all;
        for (std::size_t i = 0; i < all.size(); ++i) {
          all[i].first = static_cast<char>(i << 2);
          all[i].second = static_cast<char>((i << 2) | 3) + std::string(64, '\xff');
        }
        return all;
      }();
      const auto& [low, high] = bounds[static_cast<std::size_t>(group) % bounds.size()];
      scan.bind_blob(1, low).bind_blob(2, high);
      return;
    }
  }
}

}  // namespace

std::string row_name(const TablePart& part, const Statement& row) {
  std::string name;
  for (int i = 0; i < part.named_by; ++i)
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", part.columns[static_cast<std::size_t>(i)],
                        row.kind(i) == Statement::Kind::kBlob ? "(bytes)" : row.text(i));
  return name;
}

void Verifier::set_schema(std::int64_t version) {
  schema_ = version;
  verifies_ = version >= kFirstSummedSchema;
}

void Verifier::forget() {
  for (auto& groups : seen_) groups.clear();
  all_seen_ = {};
}

Result<std::vector<std::int64_t>> Verifier::groups(Database& database, Part part) {
  OPWRIGHT_TRY_ASSIGN(Statement find, database.prepare("SELECT chunk FROM tally WHERE part = ? ORDER BY chunk"));
  find.bind(1, static_cast<std::int64_t>(part));
  std::vector<std::int64_t> all;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return all;
    all.push_back(find.integer(0));
  }
}

Result<Tally::Group> Verifier::tallied(Database& database, Part part, std::int64_t group) {
  if (!find_tally_.is_prepared()) {
    OPWRIGHT_TRY_ASSIGN(find_tally_,
                        database.prepare("SELECT rows, total, sum FROM tally WHERE part = ? AND chunk = ?"));
  }
  OPWRIGHT_TRY_ASSIGN(const bool known, find_tally_.bind(1, static_cast<std::int64_t>(part)).bind(2, group).step());
  if (!known) return Tally::Group{};
  auto content = read_tally(find_tally_, part, group, database.path());
  find_tally_.reset();
  return content;
}

Status Verifier::found_damage(const Database& database, const std::string& what) {
  if (!listener_) return fail(damage(database.path(), what));
  listener_(what);
  return {};
}

Status Verifier::check_row(const Database& database, Part part, const Statement& row) {
  const TablePart& table = part_of(part);
  const auto columns = static_cast<int>(table.columns.size());
  sum_.start(part);
  if (sum_.add_columns(row, 0, columns).value() == row.integer(columns)) return {};
  return found_damage(database, fmt::format("table {}, row with {}: its checksum is not that of its content",
                                            table.table, row_name(table, row)));
}

Status Verifier::read(Database& database, Part part, std::int64_t group, const Use& use) {
  const TablePart& table = part_of(part);
  // Whoever uses the rows may ask again meanwhile: his statement is his own.
  Statement own;
  Statement& scan = use ? own : scans_[place(part)];
  if (!scan.is_prepared()) {
    OPWRIGHT_TRY_ASSIGN(scan, database.prepare(scan_sql(table, schema_)));
  }
  bind_group(scan, table, group);
  const auto columns = static_cast<int>(table.columns.size());
  Tally::Group found;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, scan.step());
    if (!row) break;
    ++rows_verified_;
    sum_.start(part);
    const std::int64_t sum = sum_.add_columns(scan, 0, columns).value();
    ++found.rows;
    found.total += static_cast<std::uint64_t>(table.has_sums ? scan.integer(columns) : sum);
    if (table.has_sums && sum != scan.integer(columns)) {
      if (const Status bad = check_row(database, part, scan); !bad) {
        scan.reset();
        return bad;
      }
      continue;
    }
    if (use) OPWRIGHT_TRY(use(scan));
  }
  OPWRIGHT_TRY_ASSIGN(const Tally::Group expected, tallied(database, part, group));
  if (found == expected) return {};
  const std::string where =
      table.grouping == Grouping::kWhole
          ? ""
          : fmt::format(" in group {} of {}", group, table.columns[static_cast<std::size_t>(table.grouped_by)]);
  return found_damage(
      database,
      fmt::format("table {}{}: {} rows{}, {} were written{}", table.table,
                  table.has_sums ? "" : fmt::format(" (index {})", table.index), found.rows, where, expected.rows,
                  found.rows == expected.rows ? ", and some of them are not those that were" : ""));
}

Status Verifier::check(Database& database, Part part, std::int64_t group) {
  if (!verifies_ || all_seen_[place(part)]) return {};
  if (seen_[place(part)].contains(group)) return {};
  OPWRIGHT_TRY(read(database, part, group, {}));
  seen_[place(part)].insert(group);
  return {};
}

Status Verifier::check_all(Database& database, Part part) {
  if (!verifies_ || all_seen_[place(part)]) return {};
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::int64_t> known, groups(database, part));
  for (const std::int64_t group : known) OPWRIGHT_TRY(check(database, part, group));
  OPWRIGHT_TRY(check_count(database, part));
  all_seen_[place(part)] = true;
  return {};
}

Status Verifier::check_count(Database& database, Part part) {
  const TablePart& table = part_of(part);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t expected,
                      database.query_integer(fmt::format("SELECT coalesce(sum(rows), 0) FROM tally WHERE part = {}",
                                                         static_cast<int>(part))));
  const std::string way = *table.index != '\0' ? fmt::format("INDEXED BY {}", table.index) : "NOT INDEXED";
  OPWRIGHT_TRY_ASSIGN(const std::int64_t rows,
                      database.query_integer(fmt::format("SELECT count(*) FROM {} {}", table.table, way)));
  if (rows == expected) return {};
  return found_damage(database, fmt::format("table {}: {} rows, {} were written", table.table, rows, expected));
}

}  // namespace opwright::store::sqlite

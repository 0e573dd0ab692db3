#include "store/sqlite/seal.h"

#include <fmt/format.h>

#include "store/sqlite/sums.h"
#include "store/sqlite/tally.h"

namespace opwright::store::sqlite {
namespace {

std::int64_t group_of(const TablePart& part, const Statement& row) {
  switch (part.grouping) {
    case Grouping::kWhole:
      return 0;
    case Grouping::kEach:
      return row.integer(part.grouped_by);
    case Grouping::kRange:
      return range_group(row.integer(part.grouped_by));
    case Grouping::kTopBits:
      return top_group(row.integer(part.grouped_by));
    case Grouping::kPrefix:
      return prefix_group(row.blob(part.grouped_by));
  }
  return 0;
}

Status seal_part(Database& database, const TablePart& part, Tally& tally) {
  OPWRIGHT_TRY_ASSIGN(Statement scan,
                      database.prepare(fmt::format("SELECT {} FROM {}", column_list(part), part.table)));
  Statement put;
  if (part.has_sums) {
    std::string which;
    for (int i = 0; i < part.named_by; ++i)
      which += fmt::format("{}{} = ?{}", i > 0 ? " AND " : "", part.columns[static_cast<std::size_t>(i)], i + 2);
    OPWRIGHT_TRY_ASSIGN(put, database.prepare(fmt::format("UPDATE {} SET sum = ?1 WHERE {}", part.table, which)));
  }
  RowSum sum(part.part);
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, scan.step());
    if (!row) return {};
    sum.start(part.part);
    const std::int64_t value = sum.add_columns(scan, 0, static_cast<int>(part.columns.size())).value();
    tally.add(part.part, group_of(part, scan), value);
    if (!part.has_sums) continue;
    put.bind(1, value);
    for (int i = 0; i < part.named_by; ++i) {
      if (scan.kind(i) == Statement::Kind::kInteger)
        put.bind(i + 2, scan.integer(i));
      else
        put.bind(i + 2, scan.text(i));
    }
    OPWRIGHT_TRY(put.run());  // changes no column that orders the scan
  }
}

}  // namespace

Status seal(Database& database) {
  Tally tally;
  for (const TablePart& part : table_parts()) OPWRIGHT_TRY(seal_part(database, part, tally));
  return tally.write(database);
}

}  // namespace opwright::store::sqlite

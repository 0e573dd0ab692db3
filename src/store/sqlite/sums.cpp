#include "store/sqlite/sums.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/hash.h"

namespace opwright::store::sqlite {

namespace {

// By part: the column that is not covered where it is empty, -1 for none. The tally has sums too, and is no part.
const std::array<int, 64>& last_columns() {
  static const auto kColumns = [] {
    std::array<int, 64> columns;
    columns.fill(-1);
    for (const TablePart& table : table_parts())
      if (table.last_since > 0)
        columns.at(static_cast<std::size_t>(table.part)) = static_cast<int>(table.columns.size()) - 1;
    return columns;
  }();
  return kColumns;
}

}  // namespace

void RowSum::start(Part part) {
  bytes_.clear();
  bytes_ += static_cast<char>(part);
  may_be_left_out_ = last_columns()[static_cast<std::size_t>(part)];
  column_ = 0;
}

void RowSum::put(char kind, const void* bytes, std::size_t size) {
  ++column_;
  bytes_ += kind;
  bytes_.append(static_cast<const char*>(bytes), size);
}

RowSum& RowSum::add(std::int64_t value) { return put('i', &value, sizeof value), *this; }
RowSum& RowSum::add(double value) {
  if (std::isnan(value)) return add(std::string_view("nan"));  // as Statement::bind_real writes it
  if (value == 0) value = 0;                                   // SQLite keeps no negative zero
  return put('r', &value, sizeof value), *this;
}
RowSum& RowSum::add(std::string_view text) {
  if (text.empty() && column_ == may_be_left_out_) return *this;
  const auto size = static_cast<std::uint32_t>(text.size());
  put('t', &size, sizeof size);
  bytes_ += text;
  return *this;
}
RowSum& RowSum::add_blob(std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  put('b', &size, sizeof size);
  bytes_ += bytes;
  return *this;
}
RowSum& RowSum::add_null() { return put('n', "", 0), *this; }

RowSum& RowSum::add_columns(const Statement& row, int first, int count) {
  for (int column = first; column < first + count; ++column) {
    const Statement::Cell cell = row.cell(column);
    switch (cell.kind) {
      case Statement::Kind::kInteger:
        add(cell.integer);
        break;
      case Statement::Kind::kReal:
        add(cell.real);
        break;
      case Statement::Kind::kText:
        add(cell.bytes);
        break;
      case Statement::Kind::kBlob:
        add_blob(cell.bytes);
        break;
      case Statement::Kind::kNull:
        add_null();
        break;
    }
  }
  return *this;
}

std::int64_t RowSum::value() const { return static_cast<std::int64_t>(xxh64(bytes_)); }

SummedRow& SummedRow::operator<<(std::int64_t value) {
  statement_.bind(next_++, value);
  sum_.add(value);
  return *this;
}
SummedRow& SummedRow::operator<<(std::string_view text) {
  statement_.bind(next_++, text);
  sum_.add(text);
  return *this;
}
SummedRow& SummedRow::operator<<(const Blob& blob) {
  statement_.bind_blob(next_++, blob.bytes);
  sum_.add_blob(blob.bytes);
  return *this;
}
SummedRow& SummedRow::operator<<(double value) {
  statement_.bind_real(next_++, value);
  sum_.add(value);
  return *this;
}
SummedRow& SummedRow::operator<<(const std::optional<double>& value) { return value ? *this << *value : null(); }
SummedRow& SummedRow::text_or_null(std::string_view text) { return text.empty() ? null() : *this << text; }
SummedRow& SummedRow::null() {
  statement_.bind_null(next_++);
  sum_.add_null();
  return *this;
}

std::int64_t SummedRow::bind_sum() {
  const std::int64_t sum = sum_.value();
  statement_.bind(next_, sum);
  return sum;
}

std::string insert_summed(Part part) {
  const TablePart& table = part_of(part);
  std::string marks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) marks += "?, ";
  return fmt::format("INSERT INTO {}({}, sum) VALUES ({}?)", table.table, column_list(table), marks);
}

std::string update_summed(Part part) {
  const TablePart& table = part_of(part);
  const auto named = static_cast<std::size_t>(table.named_by);
  std::string changed, which;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i < named)
      which += fmt::format("{}{} = ?{}", i > 0 ? " AND " : "", table.columns[i], i + 1);
    else
      changed += fmt::format("{} = ?{}, ", table.columns[i], i + 1);
  }
  return fmt::format("UPDATE {} SET {}sum = ?{} WHERE {}", table.table, changed, table.columns.size() + 1, which);
}

}  // namespace opwright::store::sqlite

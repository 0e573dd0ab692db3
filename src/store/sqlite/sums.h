// Checksums of rows: made when a row is written, and made again when it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/sqlite/sql.h"
#include "store/sqlite/tables.h"

namespace opwright::store::sqlite {

// XXH3-64 over the number of the part and every column with its kind, so that a row of one table is no row of another,
// and NULL, 0 and '' are three things.
class RowSum {
 public:
  explicit RowSum(Part part) { start(part); }
  void start(Part part);
  RowSum& add(std::int64_t value);
  RowSum& add(double value);
  RowSum& add(std::string_view text);
  RowSum& add_blob(std::string_view bytes);
  RowSum& add_null();
  // `count` columns of the row that the statement stands on.
  RowSum& add_columns(const Statement& row, int first, int count);
  std::int64_t value() const;

 private:
  void put(char kind, const void* bytes, std::size_t size);
  std::string bytes_;
  int may_be_left_out_ = -1;  // the column that is not covered where it is empty
  int column_ = 0;
};

struct Blob {
  std::string_view bytes;
};

// Binds one column after the other, so that no number of a parameter is written down, and the checksum behind them.
class SummedRow {
 public:
  SummedRow(Statement& statement, Part part) : statement_(statement), sum_(part) {}
  SummedRow& operator<<(std::int64_t value);
  SummedRow& operator<<(std::string_view text);
  SummedRow& operator<<(const Blob& blob);
  SummedRow& operator<<(double value);
  SummedRow& operator<<(const std::optional<double>& value);
  SummedRow& text_or_null(std::string_view text);  // "" is NULL
  SummedRow& null();
  // After the last column.
  std::int64_t bind_sum();

 private:
  Statement& statement_;
  RowSum sum_;
  int next_ = 1;
};

// "INSERT INTO t(columns, sum) VALUES (?, …)" for a SummedRow with all columns of the part.
std::string insert_summed(Part part);
// "UPDATE t SET …, sum = ? WHERE …" for the same SummedRow: the row is found by the columns that name it.
std::string update_summed(Part part);

}  // namespace opwright::store::sqlite

// One record of a CSV file cut into its cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright::perf {

class CellSplitter {
 public:
  // With semicolons between cells, a semicolon inside brackets belongs to the cell: the profiler writes its lists so.
  explicit CellSplitter(char separator = ',') : separator_(separator) {}
  char separator() const { return separator_; }

  // The cells of `record`, quotes taken off; views into it and into this object, until the next call. False when a
  // quoted cell does not end in it.
  bool split(std::string_view record, std::vector<std::string_view>& cells);

 private:
  bool split_bracketed(std::string_view record, std::vector<std::string_view>& cells);
  bool quoted(std::string_view record, std::size_t& at, std::string_view& cell);

  char separator_;
  std::string unescaped_;  // cells with doubled quotes; never grows while views into it are out
};

}  // namespace opwright::perf

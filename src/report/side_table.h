// A table on the page of a run about the judge itself: which wrong uses of data this run would have noticed, or, made
// by other commands, which planted kernel bugs are noticed, how references compare with another library, who is blamed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::report {

struct SideTable {
  std::string title;
  std::string about;  // one sentence; may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns each
};

// {"title": …, "about": …, "columns": […], "rows": [[…], …]}; cells are texts or numbers.
Result<SideTable> parse_side_table(std::string_view text, std::string_view where);

// A section of the page; `id` is its own there. Columns of numbers are set as such. `below` is markup after the table.
std::string side_table_html(const SideTable& table, std::string_view id, std::string_view below = "");

}  // namespace opwright::report

#include "report/side_table.h"

#include <gtest/gtest.h>

namespace opwright::report {
namespace {

TEST(SideTable, CellsAreTextsAndNumbersAndShownAsText) {
  const auto table = parse_side_table(
      R"({"title": "Bugs & <more>", "about": "seed 7", "columns": ["family", "noticed"], "rows": [["norm", 99.5]]})",
      "x");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  const std::string html = side_table_html(*table, "table-3");
  EXPECT_NE(html.find("h-table-3"), std::string::npos);
  EXPECT_NE(html.find("Bugs &amp; &lt;more&gt;"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">norm</th><td class=\"number\">99.5</td>"), std::string::npos);
}

TEST(SideTable, WhatIsNoneIsNamed) {
  for (const std::string_view text : {"", "[]", "{", R"({"title": "t"})", R"({"title": "t", "columns": 1, "rows": []})",
                                      R"({"title": "t", "columns": ["a"], "rows": [["x", "y"]]})",
                                      R"({"title": "t", "columns": ["a"], "rows": [[null]]})"}) {
    const auto table = parse_side_table(text, "file.json");
    ASSERT_FALSE(table.has_value()) << text;
    EXPECT_TRUE(table.error().message.starts_with("file.json: ")) << table.error().message;
  }
}

}  // namespace
}  // namespace opwright::report

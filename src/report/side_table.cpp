#include "report/side_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "report/markup.h"

namespace opwright::report {
namespace {

Result<std::vector<std::string>> cells(const json::Node& list, std::string_view where) {
  std::vector<std::string> out;
  if (!list.is(json::Kind::kArray)) return fail(ErrorCode::kBadInput, fmt::format("{}: a row is no list", where));
  for (const json::Node& cell : list) {
    if (!cell.is(json::Kind::kString) && !cell.is(json::Kind::kNumber))
      return fail(ErrorCode::kBadInput, fmt::format("{}: a cell is neither a text nor a number", where));
    out.emplace_back(cell.text);
  }
  return out;
}

// Numbers and shares, and nothing else; the first column names what a row is about.
bool holds_numbers(const SideTable& table, std::size_t column) {
  return column > 0 && std::ranges::all_of(table.rows, [&](const std::vector<std::string>& row) {
           return row[column].find_first_not_of("0123456789.,+-% ") == std::string::npos;
         });
}

}  // namespace

Result<SideTable> parse_side_table(std::string_view text, std::string_view where) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root || !(*root)->is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: no table: {}", where, root ? "not an object" : root.error().what));
  const json::Node* columns = (*root)->find("columns");
  const json::Node* rows = (*root)->find("rows");
  const auto title = (*root)->string_field("title");
  if (!title || columns == nullptr || rows == nullptr || !rows->is(json::Kind::kArray))
    return fail(ErrorCode::kBadInput, fmt::format("{}: a table has \"title\", \"columns\" and \"rows\"", where));
  SideTable out;
  out.title = *title;
  out.about = (*root)->string_field("about").value_or("");
  OPWRIGHT_TRY_ASSIGN(out.columns, cells(*columns, where));
  for (const json::Node& row : *rows) {
    OPWRIGHT_TRY_ASSIGN(std::vector<std::string> line, cells(row, where));
    if (line.size() != out.columns.size())
      return fail(ErrorCode::kBadInput, fmt::format("{}: row {} has {} cells for {} columns", where,
                                                    out.rows.size() + 1, line.size(), out.columns.size()));
    out.rows.push_back(std::move(line));
  }
  return out;
}

std::string side_table_html(const SideTable& table, std::string_view id, std::string_view below) {
  std::vector<std::string_view> kind;
  std::string head, body;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    kind.push_back(holds_numbers(table, i) ? " class=\"number\"" : "");
    head += fmt::format("<th scope=\"col\"{}>{}</th>", kind[i], markup_text(table.columns[i]));
  }
  for (const std::vector<std::string>& row : table.rows) {
    body += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      body += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", markup_text(row[i]))
                     : fmt::format("<td{}>{}</td>", kind[i], markup_text(row[i]));
    body += "</tr>\n";
  }
  return fmt::format(
      "<section aria-labelledby=\"h-{0}\">\n<h2 id=\"h-{0}\">{1}</h2>\n<p class=\"hint\">{2}</p>\n"
      "<div class=\"card scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{1}\"><table><thead><tr>{3}</tr></thead>"
      "<tbody>\n{4}</tbody></table></div>\n{5}</section>\n",
      id, markup_text(table.title), markup_text(table.about), head, body, below);
}

}  // namespace opwright::report

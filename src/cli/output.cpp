#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "base/visible_text.h"

namespace opwright::cli {
namespace {

std::string cell_json(const Cell& cell) { return cell.json.empty() ? json_string(cell.text) : cell.json; }

std::string row_json(const Table& table, const std::vector<Cell>& row) {
  JsonObject object;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (table.columns[i].name == "op") object.add_raw("operation", cell_json(row[i]));  // the name that stays
    object.add_raw(table.columns[i].name, cell_json(row[i]));
  }
  return object.text();
}

// "ttnn.experimental.…_heads": names say most at their ends.
std::string cut_in_the_middle(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width < 4) return cut_text(text, width);
  const std::size_t front = width / 2;
  std::string out = cut_text(text, front + 1);  // ends in an ellipsis of its own
  std::size_t from = text.size();
  for (std::size_t taken = 0; from > 0 && taken < width - front - 1;) {
    --from;
    while (from > 0 && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) --from;
    taken = width_of(text.substr(from));
  }
  return out + std::string(text.substr(from));
}

// Columns of text give way, the widest first, until the row fits; numbers never do.
void fit(const Table& table, const std::vector<std::size_t>& shown, std::size_t room,
         std::vector<std::size_t>& widths) {
  constexpr std::size_t kLeast = 8;
  std::size_t sum = 2 * (widths.size() - std::min<std::size_t>(1, widths.size()));
  for (const std::size_t width : widths) sum += width;
  while (sum > room) {
    std::size_t widest = widths.size();
    for (std::size_t k = 0; k < widths.size(); ++k)
      if (!table.columns[shown[k]].right && widths[k] > kLeast &&
          (widest == widths.size() || widths[k] > widths[widest]))
        widest = k;
    if (widest == widths.size()) return;
    --widths[widest];
    --sum;
  }
}

void print_table(const Table& table, CommandEnv& env) {
  std::vector<std::size_t> shown, widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].in_table) continue;
    std::size_t width = width_of(table.columns[i].name);
    for (const auto& row : table.rows) width = std::max(width, width_of(visible(row[i].text)));
    shown.push_back(i);
    widths.push_back(width);
  }
  const bool is_cut = env.out_is_terminal && !env.wide;
  if (is_cut) fit(table, shown, static_cast<std::size_t>(env.width), widths);
  const auto line = [&](const auto& text_of) {
    std::string out;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const std::string text = cut_in_the_middle(text_of(shown[k]), widths[k]);
      const std::string pad(widths[k] - std::min(widths[k], width_of(text)), ' ');
      if (k > 0) out += "  ";
      out += table.columns[shown[k]].right ? pad + text : text + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    env.out << (is_cut ? cut_text(out, static_cast<std::size_t>(env.width)) : out) << '\n';
  };
  line([&](std::size_t i) { return table.columns[i].name; });
  for (const auto& row : table.rows) line([&](std::size_t i) { return visible(row[i].text); });
}

}  // namespace

void print(const Table& table, CommandEnv& env) {
  switch (env.format) {
    case OutputFormat::kTable:
      print_table(table, env);
      return;
    case OutputFormat::kJson: {
      env.out << '[';
      for (std::size_t i = 0; i < table.rows.size(); ++i)
        env.out << (i > 0 ? ",\n " : "\n ") << row_json(table, table.rows[i]);
      env.out << (table.rows.empty() ? "]\n" : "\n]\n");
      return;
    }
    case OutputFormat::kJsonl:
      for (const auto& row : table.rows) env.out << row_json(table, row) << '\n';
      return;
    case OutputFormat::kCsv:
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        env.out << (i > 0 ? "," : "") << csv_cell(table.columns[i].name);
      env.out << '\n';
      for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) env.out << (i > 0 ? "," : "") << csv_cell(row[i].text);
        env.out << '\n';
      }
      return;
  }
}

std::size_t text_width(const CommandEnv& env) {
  constexpr std::size_t kAny = 1'000'000;
  constexpr std::size_t kNoTerminal = 160;
  return env.wide ? kAny : env.out_is_terminal ? static_cast<std::size_t>(env.width) : kNoTerminal;
}

void print_object(const JsonObject& object, const std::vector<std::pair<std::string, std::string>>& csv_fields,
                  std::string_view human, CommandEnv& env) {
  switch (env.format) {
    case OutputFormat::kTable:
      env.out << human;
      return;
    case OutputFormat::kJson:
    case OutputFormat::kJsonl:
      env.out << object.text() << '\n';
      return;
    case OutputFormat::kCsv: {
      std::string header, line;
      for (const auto& [name, value] : csv_fields) {
        header += (header.empty() ? "" : ",") + csv_cell(name);
        line += (line.empty() && header == csv_cell(name) ? "" : ",") + csv_cell(value);
      }
      env.out << header << '\n' << line << '\n';
      return;
    }
  }
}

}  // namespace opwright::cli

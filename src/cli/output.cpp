#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"

namespace opwright::cli {
namespace {

// Columns on a terminal: UTF-8 continuation bytes take none.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cell_json(const Cell& cell) { return cell.json.empty() ? json_string(cell.text) : cell.json; }

std::string row_json(const Table& table, const std::vector<Cell>& row) {
  JsonObject object;
  for (std::size_t i = 0; i < row.size(); ++i) object.add_raw(table.columns[i].name, cell_json(row[i]));
  return object.text();
}

void print_table(const Table& table, CommandEnv& env) {
  std::vector<std::size_t> shown, widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].in_table) continue;
    std::size_t width = width_of(table.columns[i].name);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[i].text));
    shown.push_back(i);
    widths.push_back(width);
  }
  const auto line = [&](const auto& text_of) {
    std::string out;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const std::string text = cut_text(text_of(shown[k]), widths[k]);
      const std::string pad(widths[k] - std::min(widths[k], width_of(text)), ' ');
      if (k > 0) out += "  ";
      out += table.columns[shown[k]].right ? pad + text : text + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    env.out << (env.out_is_terminal ? cut_text(out, static_cast<std::size_t>(env.width)) : out) << '\n';
  };
  line([&](std::size_t i) { return table.columns[i].name; });
  for (const auto& row : table.rows) line([&](std::size_t i) { return row[i].text; });
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size() && used + 1 < width;) {
    std::size_t next = i + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    out += text.substr(i, next - i);
    i = next;
    ++used;
  }
  return out + "…";
}

std::string json_string(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

std::string& JsonObject::field(std::string_view name) {
  body_ += body_.empty() ? "{" : ", ";
  json::append_quoted(body_, name);
  return body_ += ": ";
}
JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  json::append_quoted(field(name), text);
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::int64_t number) {
  field(name) += std::to_string(number);
  return *this;
}
JsonObject& JsonObject::add_number(std::string_view name, double number) {
  field(name) += fmt::format("{:.6g}", number);
  return *this;
}
JsonObject& JsonObject::add_bool(std::string_view name, bool value) {
  field(name) += value ? "true" : "false";
  return *this;
}
JsonObject& JsonObject::add_raw(std::string_view name, std::string_view json) {
  field(name) += json;
  return *this;
}

std::string counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.add(name, count);
  return object.text();
}

std::vector<std::pair<std::string, std::int64_t>> by_count(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string count_list(const std::map<std::string, std::int64_t>& counts, std::size_t most) {
  const auto sorted = by_count(counts);
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", sorted[i].first, grouped(sorted[i].second));
  if (sorted.size() > most) text += fmt::format(", and {} more", sorted.size() - most);
  return text;
}

std::string json_array(const std::vector<std::string>& items, bool items_are_json) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += items_are_json ? item : json_string(item);
  }
  return out + "]";
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string plural(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", grouped(count), one) : fmt::format("{} {}", grouped(count), many);
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return bytes < 1'000'000 ? fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

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

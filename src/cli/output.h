// Rows and objects in the four formats that every verb speaks.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace opwright::cli {

// A JSON object under construction; fields keep their order.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view text);
  JsonObject& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonObject& add(std::string_view name, std::int64_t number);
  JsonObject& add_number(std::string_view name, double number);
  JsonObject& add_bool(std::string_view name, bool value);
  JsonObject& add_raw(std::string_view name, std::string_view json);  // already JSON
  std::string text() const { return body_.empty() ? "{}" : body_ + "}"; }

 private:
  std::string& field(std::string_view name);
  std::string body_;
};

// {"name": count, …}
std::string counts_json(const std::map<std::string, std::int64_t>& counts);
// The largest first.
std::vector<std::pair<std::string, std::int64_t>> by_count(const std::map<std::string, std::int64_t>& counts);
// "ttnn.add 12, ttnn.linear 3, and 4 more"
std::string count_list(const std::map<std::string, std::int64_t>& counts, std::size_t most);
std::string json_array(const std::vector<std::string>& items, bool items_are_json);
std::string json_string(std::string_view text);

struct Cell {
  std::string text;
  std::string json;                                    // its JSON; "" means the text as a string
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT(google-explicit-constructor): rows read better
  Cell(std::string_view shown) : text(shown) {}        // NOLINT(google-explicit-constructor)
  Cell(const char* shown) : text(shown) {}             // NOLINT(google-explicit-constructor)
  Cell(std::int64_t number) : text(std::to_string(number)), json(text) {}  // NOLINT(google-explicit-constructor)
  Cell(std::string shown, std::string as_json) : text(std::move(shown)), json(std::move(as_json)) {}
};

struct Column {
  std::string name;      // of JSON and CSV
  bool right = false;    // numbers
  bool in_table = true;  // some columns are for machines only
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

// table: aligned and cut to the terminal's width; json: an array of objects; jsonl: one a line; csv: RFC 4180.
void print(const Table& table, CommandEnv& env);
// json and jsonl: the object; csv: a header and a line of its scalar fields; table: `human` as it is.
void print_object(const JsonObject& object, const std::vector<std::pair<std::string, std::string>>& csv_fields,
                  std::string_view human, CommandEnv& env);

// At most `width` columns of a terminal, with … where it was cut.
std::string cut_text(std::string_view text, std::size_t width);
std::string csv_cell(std::string_view text);
// 1 -> "1 file", 2 -> "2 files"; `many` for words with another plural
std::string plural(std::int64_t count, std::string_view one, std::string_view many = "");
// 512 -> "512 B", 34246 -> "34.2 kB", 20100000 -> "20.1 MB"
std::string size_text(std::int64_t bytes);
// 12345678 -> "12,345,678"
std::string grouped(std::int64_t number);

}  // namespace opwright::cli

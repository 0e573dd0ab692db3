// Rows and objects in the four formats that every verb speaks.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_object.h"
#include "base/words.h"
#include "cli/command.h"

namespace opwright::cli {

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

// table: aligned, texts cut in the middle so that it fits the terminal (--wide: not); json: an array of objects; jsonl:
// one a line; csv: RFC 4180.
void print(const Table& table, CommandEnv& env);
// json and jsonl: the object; csv: a header and a line of its scalar fields; table: `human` as it is.
void print_object(const JsonObject& object, const std::vector<std::pair<std::string, std::string>>& csv_fields,
                  std::string_view human, CommandEnv& env);

// Columns that text may have: those of the terminal, else 160; with --wide any number.
std::size_t text_width(const CommandEnv& env);

// All counts together.
inline std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

}  // namespace opwright::cli

#include "vectors/field_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace opwright::vectors {

int position_of(std::string_view name) {
  if (!name.starts_with("arg") || name.size() > 6 || name.size() < 4) return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

char input_letter(std::string_view name) {
  if (!name.starts_with("input_") || name.size() < 9 || name[7] != '_' || name[6] < 'a' || name[6] > 'z') return 0;
  const std::string_view field = name.substr(8);
  return std::find(kTensorFields.begin(), kTensorFields.end(), field) != kTensorFields.end() ? name[6] : '\0';
}

std::string field_order(std::string_view name) {
  if (const int position = position_of(name); position >= 0) return fmt::format("0{:04}", position);
  if (name == "output_memory_config") return "3";
  if (const char letter = input_letter(name); letter != 0) {
    const auto at = std::find(kTensorFields.begin(), kTensorFields.end(), name.substr(8)) - kTensorFields.begin();
    return fmt::format("1{}{}", letter, at);
  }
  return fmt::format("2{}", name);
}

}  // namespace opwright::vectors

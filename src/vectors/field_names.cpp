#include "vectors/field_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/position_name.h"

namespace opwright::vectors {

char input_letter(std::string_view name) {
  if (!name.starts_with("input_") || name.size() < 9 || name[7] != '_' || name[6] < 'a' || name[6] > 'z') return 0;
  const std::string_view field = name.substr(8);
  return std::find(kTensorFields.begin(), kTensorFields.end(), field) != kTensorFields.end() ? name[6] : '\0';
}

std::string field_order(std::string_view name) {
  if (const int position = position_of_name(name); position >= 0) return fmt::format("0{:04}", position);
  if (name == "output_memory_config") return "3";
  if (const char letter = input_letter(name); letter != 0) {
    const auto at = std::find(kTensorFields.begin(), kTensorFields.end(), name.substr(8)) - kTensorFields.begin();
    return fmt::format("1{}{}", letter, at);
  }
  return fmt::format("2{}", name);
}

}  // namespace opwright::vectors

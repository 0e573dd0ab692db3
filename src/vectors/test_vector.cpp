#include "vectors/test_vector.h"

#include <fmt/format.h>

namespace opwright::vectors {

void name_vector(TestVector& vector) {
  vector.key = to_hex(vector.config.key);
  vector.id = fmt::format("{}/{}", vector.suite, std::string_view(vector.key).substr(0, 16));
  if (!vector.group.empty()) vector.id += "." + vector.group;
}

std::string_view rule_of(const TestVector& vector) {
  const std::string_view reason = vector.invalid;
  return reason.substr(0, reason.find(':'));
}

}  // namespace opwright::vectors

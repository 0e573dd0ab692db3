// A byte that chooses the kind of form, a line with the operation, and the JSON text of its arguments.
#include <string_view>

#include "laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = opwright::fuzz::text_of(data, size);
  if (text.empty()) return 0;
  const auto kind = static_cast<opwright::FormKind>(1 + static_cast<unsigned char>(text.front()) % 5);
  text.remove_prefix(1);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  opwright::fuzz::Checker checker;
  const auto key = checker.check(kind, text.substr(0, line), text.substr(line + 1));
  opwright::fuzz::require(key == checker.check(kind, text.substr(0, line), text.substr(line + 1)),
                          "the same twice is the same");
  return 0;
}

// Any bytes as reflection text and as an element_info: no crash, no error without a place inside the text, and a value
// whose text does not change from one reading to the next.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/reflection.h"
#include "model/value.h"
#include "require.h"

namespace {

using opwright::fuzz::require;

int depth_of(const opwright::Value& value) {
  int deepest = 0;
  const auto look = [&deepest](const opwright::Value& inner) { deepest = std::max(deepest, depth_of(inner) + 1); };
  if (const opwright::List* list = value.as_list())
    for (const auto& item : *list) look(item);
  if (const opwright::Fields* dict = value.as_dict())
    for (const auto& [key, item] : *dict) look(item);
  if (const opwright::Struct* s = value.as_struct())
    for (const auto& [key, item] : s->fields) look(item);
  return deepest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = opwright::format::parse_reflection(text)) {
    const std::string printed = opwright::to_text(*value);
    require(printed == opwright::to_text(*opwright::format::parse_reflection(std::string(text))), "reading is stable",
            printed);
    // A coordinate such as 8-8, a range or a joined pair adds levels of its own.
    require(depth_of(*value) <= opwright::format::kMaxReflectionDepth + 3, "no value is deeper than the limit",
            printed);
  } else {
    require(value.error().offset <= size && !value.error().what.empty(), "an error has a place inside the text",
            value.error().what);
  }
  if (const auto element = opwright::format::parse_element_info(text)) {
    require(element->index >= -1, "an element has a position or none", std::to_string(element->index));
    const std::string printed = opwright::to_text(element->value);
    require(printed == opwright::to_text(opwright::format::parse_element_info(text)->value), "reading is stable",
            printed);
  } else {
    require(element.error().offset <= size && !element.error().what.empty(), "an error has a place inside the text",
            element.error().what);
  }
  return 0;
}

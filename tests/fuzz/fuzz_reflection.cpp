// Any bytes as reflection text and as an element_info: no crash, no error without a place inside the text, and a value
// whose text does not change from one reading to the next.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/reflection.h"
#include "model/value.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

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
    require(printed == opwright::to_text(*opwright::format::parse_reflection(std::string(text))));
    // A coordinate such as 8-8, a range or a joined pair adds levels of its own.
    require(depth_of(*value) <= opwright::format::kMaxReflectionDepth + 3);
  } else {
    require(value.error().offset <= size && !value.error().what.empty());
  }
  if (const auto element = opwright::format::parse_element_info(text)) {
    require(element->index >= -1);
    require(opwright::to_text(element->value) == opwright::to_text(opwright::format::parse_element_info(text)->value));
  } else {
    require(element.error().offset <= size && !element.error().what.empty());
  }
  return 0;
}

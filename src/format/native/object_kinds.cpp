#include "format/native/object_kinds.h"

#include "base/json_write.h"
#include "format/native/made_text.h"

namespace opwright::format {

std::string key_text(const NativeValue& key) {
  using capture::Tag;
  switch (key.tag) {
    case Tag::kNull:
      return "null";
    case Tag::kTrue:
      return "true";
    case Tag::kFalse:
      return "false";
    case Tag::kInt:
      return std::to_string(key.number);
    case Tag::kFloat:
      return json::float_text(key.real);
    case Tag::kString:
    case Tag::kBigInt:
      return std::string(key.text);
    default:
      return made_text(key);
  }
}

}  // namespace opwright::format

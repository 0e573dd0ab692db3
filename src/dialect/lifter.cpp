#include "dialect/lifter.h"

namespace opwright::lifting {

const Value* find(const Fields& fields, std::string_view name) {
  for (auto it = fields.rbegin(); it != fields.rend(); ++it) {
    if (it->first == name) return &it->second;
  }
  return nullptr;
}

const std::string* text_of(const Fields& fields, std::string_view name) {
  const Value* value = find(fields, name);
  return value != nullptr ? value->as_string() : nullptr;
}

const Fields* members(const Value& value) {
  if (const Struct* s = value.as_struct()) return &s->fields;
  return value.as_dict();
}

std::string_view name_text(const Value& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const Enum* e = value.as_enum()) return e->name;
  if (const Fields* dict = value.as_dict()) {  // {"type": "DataType", "repr": "DataType.BFLOAT16"}
    if (const Value* repr = find(*dict, "repr"); repr != nullptr && repr->as_string() != nullptr)
      return *repr->as_string();
  }
  return {};
}

bool is_nothing(const Value& value) {
  if (value.is_null()) return true;
  const std::string* text = value.as_string();
  return text != nullptr && (*text == "None" || *text == "std::nullopt" || *text == "nullopt" || text->empty());
}

std::optional<Shape> read_shape(const Value& value, Lifter& lifter) {
  const Value shown = lifter.opened(value);
  if (const Struct* s = shown.as_struct()) {
    return s->fields.size() == 1 ? read_shape(s->fields.front().second, lifter) : std::nullopt;
  }
  if (const Fields* dict = shown.as_dict()) {
    const Value* text = find(*dict, "value");
    return text != nullptr ? read_shape(*text, lifter) : std::nullopt;
  }
  const List* items = shown.as_list();
  if (items == nullptr) return std::nullopt;
  Shape found;
  found.reserve(items->size());
  for (const Value& item : *items) {
    if (item.as_int() == nullptr) return std::nullopt;
    found.push_back(*item.as_int());
  }
  return found;
}

Value numbers(const Shape& shape) {
  List list;
  list.reserve(shape.size());
  for (const std::int64_t n : shape) list.emplace_back(n);
  return Value(std::move(list));
}

}  // namespace opwright::lifting

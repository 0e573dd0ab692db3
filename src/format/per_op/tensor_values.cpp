#include "format/per_op/tensor_values.h"

#include <cstring>

#include "base/json_write.h"
#include "format/per_op/json_lines.h"

namespace opwright::format {
namespace {

struct Element {
  std::string_view stored, numpy;
  std::size_t size;
};
constexpr Element kElements[] = {{"float32", "float32", 4}, {"bfloat16", "float32", 2}, {"float64", "float64", 8},
                                 {"int8", "int8", 1},       {"int16", "int16", 2},      {"int32", "int32", 4},
                                 {"int64", "int64", 8},     {"uint8", "uint8", 1},      {"uint16", "uint16", 2},
                                 {"uint32", "uint32", 4},   {"bool", "bool", 1}};

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void append_element(const TensorContent& content, const char* at, std::string& out) {
  const std::string_view dtype = content.dtype;
  if (content.widen) {
    const std::uint32_t bits = static_cast<std::uint32_t>(load<std::uint16_t>(at)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    json::append_float(out, static_cast<double>(value));
  } else if (dtype == "float32") {
    json::append_float(out, static_cast<double>(load<float>(at)));
  } else if (dtype == "float64") {
    json::append_float(out, load<double>(at));
  } else if (dtype == "bool") {
    out += *at != 0 ? "true" : "false";
  } else if (dtype == "int8") {
    out += std::to_string(load<std::int8_t>(at));
  } else if (dtype == "int16") {
    out += std::to_string(load<std::int16_t>(at));
  } else if (dtype == "int32") {
    out += std::to_string(load<std::int32_t>(at));
  } else if (dtype == "int64") {
    out += std::to_string(load<std::int64_t>(at));
  } else if (dtype == "uint8") {
    out += std::to_string(load<std::uint8_t>(at));
  } else if (dtype == "uint16") {
    out += std::to_string(load<std::uint16_t>(at));
  } else {
    out += std::to_string(load<std::uint32_t>(at));
  }
}

const char* append_level(const TensorContent& content, std::size_t element, std::size_t dim, const char* at, int level,
                         std::string& out) {
  if (dim == content.shape.size()) {
    append_element(content, at, out);
    return at + element;
  }
  JsonLines list = json_list(out, level);
  for (std::int64_t i = 0; i < content.shape[dim]; ++i) {
    list.item();
    at = append_level(content, element, dim + 1, at, level + 1, out);
  }
  list.end();
  return at;
}

const Element* element_of(std::string_view stored) {
  for (const Element& element : kElements) {
    if (element.stored == stored) return &element;
  }
  return nullptr;
}

}  // namespace

bool read_content(const NativeValue* description, const Blob& blob, TensorContent& content) {
  if (description == nullptr) return false;
  const std::string_view stored = text_of(description->find("dtype"));
  const Element* element = element_of(stored);
  const NativeValue* shape = description->find("shape");
  if (element == nullptr || shape == nullptr || !shape->is_list() || shape->items.size() > 16) return false;
  // The elements must be as many as the bytes say, so no absurd shape gets further than here. Of an empty tensor the
  // lists are as many as the dims before the zero say: few, or it is not believed.
  std::uint64_t elements = 1, lists = 1;
  bool empty = false;
  content.shape.clear();
  for (const NativeValue* dim : shape->items) {
    if (!dim->is(capture::Tag::kInt) || dim->number < 0 || dim->number > (std::int64_t{1} << 40)) return false;
    const auto count = static_cast<std::uint64_t>(dim->number);
    empty = empty || count == 0;
    if (!empty) lists *= count;
    elements *= count;
    if (lists > blob.bytes.size() + 4096) return false;
    if (empty) elements = 0;
    content.shape.push_back(dim->number);
  }
  if (elements * element->size != blob.bytes.size()) return false;
  content.dtype = element->numpy;
  content.widen = stored == "bfloat16";
  content.bytes = blob.bytes;
  return true;
}

void append_values(const TensorContent& content, int level, std::string& out) {
  std::size_t element = 2;
  if (!content.widen) element = element_of(content.dtype)->size;
  append_level(content, element, 0, content.bytes.data(), level, out);
}

}  // namespace opwright::format

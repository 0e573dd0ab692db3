// One form for what PyTorch's programs write in several (docs/formats/identity.md): dtypes by one name, contiguous
// strides not at all, devices as their text.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "dialect/aten/aten.h"

namespace opwright {
namespace {

struct Alias {
  std::string_view name;  // in capitals
  DType dtype;
};

// Names of c10::ScalarType, and torch's second names.
constexpr std::array kAliases{
    Alias{"HALF", DType::kFloat16},       Alias{"FLOAT", DType::kFloat32},
    Alias{"DOUBLE", DType::kFloat64},     Alias{"BYTE", DType::kUint8},
    Alias{"CHAR", DType::kInt8},          Alias{"SHORT", DType::kInt16},
    Alias{"INT", DType::kInt32},          Alias{"LONG", DType::kInt64},
    Alias{"CFLOAT", DType::kComplex64},   Alias{"COMPLEXFLOAT", DType::kComplex64},
    Alias{"CDOUBLE", DType::kComplex128}, Alias{"COMPLEXDOUBLE", DType::kComplex128},
};

Spelled<DType> with_alias(Spelled<DType> dtype) {
  if (dtype.value != DType::kUnknown) return dtype;
  const auto found = std::ranges::find(kAliases, dtype.unknown, &Alias::name);
  return found == kAliases.end() ? dtype : Spelled<DType>{found->dtype, {}};
}

std::optional<Shape> whole_numbers(const Value& value) {
  const List* list = value.as_list();
  if (list == nullptr) return std::nullopt;
  Shape numbers;
  for (const Value& item : *list) {
    if (item.as_int() == nullptr) return std::nullopt;
    numbers.push_back(*item.as_int());
  }
  return numbers;
}

bool is_dtype_type(std::string_view type) {
  const std::string_view word = last_part(type);
  return word == "dtype" || word == "ScalarType";
}

// A word of torch: `torch.float16`, `torch.channels_last`. Nothing where the word is neither.
std::optional<Value> torch_word(std::string_view text) {
  if (!text.starts_with("torch.") || text.find_first_of(" (", 6) != std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(6);
  if (const Spelled<DType> dtype = parse_torch_dtype(word); dtype.value != DType::kUnknown && dtype.present())
    return Value(Enum{"dtype", std::string(dtype.name())});
  if (word.ends_with("_format") || word == "channels_last" || word == "channels_last_3d")
    return Value(Enum{"memory_format", std::string(word)});
  return std::nullopt;
}

// torch.device(type='cuda', index=0) says what "cuda:0" says.
std::optional<std::string> device_text(const Struct& device) {
  if (last_part(device.type) != "device") return std::nullopt;
  std::string text;
  std::optional<std::int64_t> index;
  for (const auto& [name, field] : device.fields) {
    if ((name == "type" || name.empty()) && field.as_string() != nullptr)
      text = *field.as_string();
    else if (name == "index" && field.as_int() != nullptr)
      index = *field.as_int();
    else if (!field.is_null())
      return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
  return index ? text + ":" + std::to_string(*index) : text;
}

TensorSpec normal_tensor(TensorSpec spec) {
  spec.dtype = with_alias(std::move(spec.dtype));
  std::erase_if(spec.more, [&](auto& field) {
    auto& [name, value] = field;
    value = aten_dialect().normal_form(std::move(value));
    const auto numbers = whole_numbers(value);
    if (name == "strides") return numbers && spec.has_shape && is_contiguous(spec.shape, *numbers);
    if (name == "storage_offset") return value.as_int() != nullptr && *value.as_int() == 0;
    if (name == "requires_grad") return value.as_bool() != nullptr && !*value.as_bool();
    return false;
  });
  return spec;
}

}  // namespace

Spelled<DType> parse_torch_dtype(std::string_view text) { return with_alias(parse_dtype(text)); }

bool is_contiguous(const Shape& shape, const Shape& strides) {
  if (shape.size() != strides.size()) return false;
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    if (shape[i] < 0 || __builtin_mul_overflow(expected, shape[i], &expected)) return false;
  }
  return true;
}

Value aten_normal_form(Value value) {
  if (const TensorSpec* spec = value.as_tensor()) return Value::tensor(normal_tensor(*spec));
  if (const Enum* name = value.as_enum(); name != nullptr && is_dtype_type(name->type)) {
    const Spelled<DType> dtype = parse_torch_dtype(name->name);
    return dtype.present() ? Value(Enum{"dtype", std::string(dtype.name())}) : value;
  }
  if (const Enum* name = value.as_enum(); name != nullptr && last_part(name->type) == "memory_format")
    return Value(Enum{"memory_format", name->name});
  if (const std::string* text = value.as_string()) return torch_word(*text).value_or(value);
  if (const Opaque* opaque = value.as_opaque()) {
    if (last_part(opaque->type) == "device") return Value(opaque->text);
    return torch_word(opaque->text).value_or(value);
  }
  if (const List* list = value.as_list()) {
    List items;
    items.reserve(list->size());
    for (const Value& item : *list) items.push_back(aten_normal_form(item));
    return Value(std::move(items));
  }
  const auto members = [](const Fields& fields) {
    Fields out;
    out.reserve(fields.size());
    for (const auto& [name, field] : fields) out.emplace_back(name, aten_normal_form(field));
    return out;
  };
  if (const Fields* dict = value.as_dict()) return Value::dict(members(*dict));
  if (const Struct* s = value.as_struct()) {
    if (auto device = device_text(*s)) return Value(*std::move(device));
    return Value::structure(s->type, members(s->fields));
  }
  return value;
}

}  // namespace opwright

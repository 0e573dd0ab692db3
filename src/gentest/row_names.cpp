#include "gentest/row_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/file_name.h"
#include "model/position_name.h"

namespace opwright::gentest {
namespace {

constexpr std::size_t kMostOfId = 96;
constexpr std::size_t kMostOfLabel = 64;
constexpr std::size_t kKeyDigits = 6;

std::string_view short_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBfloat16:
      return "bf16";
    case DType::kFloat32:
      return "f32";
    case DType::kBfloat8B:
      return "bf8";
    case DType::kBfloat4B:
      return "bf4";
    case DType::kInt32:
      return "i32";
    case DType::kUint32:
      return "u32";
    case DType::kUint16:
      return "u16";
    case DType::kUint8:
      return "u8";
    default:
      return "other";
  }
}

std::string short_memory(const TensorSpec& spec) {
  if (spec.storage.value == StorageType::kHost) return "host";
  if (!spec.memory) return "device";
  std::string text = spec.memory->buffer.value == BufferType::kL1 ? "l1" : "dram";
  switch (spec.memory->layout.value) {
    case MemoryLayout::kHeightSharded:
      return text + "hs";
    case MemoryLayout::kWidthSharded:
      return text + "ws";
    case MemoryLayout::kBlockSharded:
      return text + "bs";
    case MemoryLayout::kNdSharded:
      return text + "nd";
    default:
      return text;
  }
}

std::string tensor_id(const TensorSpec& spec) {
  return fmt::format("{}_{}{}_{}", spec.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(spec.shape, "x")),
                     short_dtype(spec.dtype.value), spec.layout.value == Layout::kRowMajor ? "_rm" : "",
                     short_memory(spec));
}

std::string kind_of(const Value& value) {
  if (value.as_tensor() != nullptr) return "tensor";
  if (value.is_null()) return "none";
  if (value.as_bool() != nullptr) return "bool";
  if (value.as_int() != nullptr) return "int";
  if (value.as_float() != nullptr) return "float";
  if (value.as_string() != nullptr) return "str";
  if (value.as_memory() != nullptr) return "MemoryConfig";
  if (const Enum* e = value.as_enum()) return e->type.empty() ? "enum" : e->type;
  if (const Struct* s = value.as_struct()) return s->type;
  if (const Opaque* o = value.as_opaque()) return o->type;
  if (const List* list = value.as_list())
    return !list->empty() && list->front().as_tensor() != nullptr ? "tensors" : "list";
  return "struct";
}

bool is_plain(const Value& value) {
  const std::string kind = kind_of(value);
  return kind == "bool" || kind == "int" || kind == "float" || kind == "str" || kind == "tensors" || kind == "list";
}

}  // namespace

std::string row_id(const std::vector<Argument>& args, std::string_view key) {
  std::string id;
  for (const Argument& argument : args)
    for_each_tensor(argument.value,
                    [&](const TensorSpec& spec) { id += fmt::format("{}{}", id.empty() ? "" : "-", tensor_id(spec)); });
  if (id.size() > kMostOfId) id = id.substr(0, id.find_last_of('-', kMostOfId)) + "-and-more";
  return fmt::format("{}{}{}", id, id.empty() ? "" : "-", key.substr(0, kKeyDigits));
}

std::string group_label(const SpelledCall& call) {
  std::string label;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Argument& argument = call.args[i];
    const bool is_tensor = argument.value.as_tensor() != nullptr;
    std::string word = is_tensor && i < 2 ? "tensor" : argument.name;
    if (i < 2 && !is_tensor && is_plain(argument.value)) word = kind_of(argument.value);
    if (position_of_name(argument.name) >= 0) word = kind_of(argument.value);
    if (argument.value.is_null()) word += "_none";
    label += (label.empty() ? "" : "_") + word;
  }
  std::ranges::transform(label, label.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return file_name_part(label.empty() ? "nothing" : label, kMostOfLabel);
}

std::string signature_text(const SpelledCall& call) {
  std::string text;
  for (const Argument& argument : call.args)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", argument.name, kind_of(argument.value));
  return text;
}

std::string op_label(std::string_view op) {
  if (op.starts_with("ttnn.")) op.remove_prefix(5);
  return file_name_part(op, kMostOfLabel);
}

bool is_python_name(std::string_view text) {
  static constexpr std::array<std::string_view, 35> kKeywords{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text.front())) return false;
  if (!std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); })) return false;
  return std::ranges::find(kKeywords, text) == kKeywords.end();
}

}  // namespace opwright::gentest

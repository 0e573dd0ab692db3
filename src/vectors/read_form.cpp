// The other direction of existing_form.cpp: what the fields of a vector say.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/json_object.h"
#include "base/text.h"
#include "model/position_name.h"
#include "vectors/existing_form.h"
#include "vectors/field_names.h"
#include "vectors/one_line.h"

namespace opwright::vectors {
namespace {

using json::Kind;
using json::Node;

constexpr std::array<std::string_view, 13> kNoParameters{"suite_name",
                                                         "validity",
                                                         "invalid_reason",
                                                         "status",
                                                         "sweep_name",
                                                         "timestamp",
                                                         "input_hash",
                                                         "config_hash",
                                                         "tag",
                                                         "config_id",
                                                         "traced_source",
                                                         "traced_machine_info",
                                                         "output_memory_config"};

bool is_absent(const Node* node) { return node == nullptr || (node->is(Kind::kString) && node->text == kAbsentCell); }

// A Python literal inside a string: "(1, 2)" -> [1, 2], "None" -> null; nothing when it is just a text.
std::string python_literal(std::string_view text) {
  if (text == "None") return "null";
  if (text == "True") return "true";
  if (text == "False") return "false";
  const char first = text.empty() ? ' ' : text.front();
  if (first != '(' && first != '[' && first != '-' && (first < '0' || first > '9')) return "";
  std::string json;
  json.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' && i + 1 < text.size() && (text[i + 1] == ')' || text[i + 1] == ']')) continue;  // (32,)
    json += c == '(' ? '[' : c == ')' ? ']' : c == '\'' ? '"' : c;
  }
  thread_local json::Document document;  // made once: a shape is such a text, and each vector has some
  const auto root = document.parse(json);
  return root && ((*root)->is(Kind::kArray) || (*root)->is(Kind::kNumber)) ? one_line(**root) : "";
}

// {"type": "…MemoryConfig", "data": {…}} -> {…}
std::string opened_object(const Node& node) {
  const Node* data = node.find("data");
  const auto type = node.string_field("type");
  if (node.count == 2 && data != nullptr && type) {
    if (type->ends_with("MemoryConfig")) return one_line(*data);
    const std::string_view name = last_part(*type, ".");
    return JsonObject().add_raw(name, one_line(*data)).text();
  }
  return one_line(node);
}

std::string keyword_json(const Node& node) {
  if (node.is(Kind::kObject)) return opened_object(node);
  if (!node.is(Kind::kString)) return one_line(node);
  const std::size_t dot = node.text.rfind('.');
  const std::string_view type = node.text.substr(0, dot == std::string_view::npos ? 0 : dot);
  if (std::find(kEnumTypes.begin(), kEnumTypes.end(), type) != kEnumTypes.end())
    return JsonObject().add("type", type).add("repr", node.text).text();
  const std::string literal = python_literal(node.text);
  return literal.empty() ? one_line(node) : literal;
}

// The fields PREFIX_shape, PREFIX_dtype, … of a vector, in the order of kTensorFields; null where there is none.
using TensorCells = std::array<const Node*, kTensorFields.size()>;
TensorCells tensor_cells(const Node& vector, std::string_view prefix) {
  TensorCells cells{};
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const std::string_view name = vector.fields[i].key;
    if (name.size() <= prefix.size() || name[prefix.size()] != '_' || !name.starts_with(prefix)) continue;
    const auto field = std::find(kTensorFields.begin(), kTensorFields.end(), name.substr(prefix.size() + 1));
    if (field == kTensorFields.end()) continue;
    const Node& value = vector.fields[i].value;
    cells[static_cast<std::size_t>(field - kTensorFields.begin())] = is_absent(&value) ? nullptr : &value;
  }
  return cells;
}

// The tensor that the fields with this prefix describe; "" when the vector does not pass it.
std::string tensor_json(const Node& vector, std::string_view prefix) {
  const auto [shape, dtype, layout, memory, placement, storage] = tensor_cells(vector, prefix);
  const auto told = [](const Node* node) { return node != nullptr && !node->is(Kind::kNull); };
  if (!told(shape) && !told(dtype) && !told(layout) && !told(memory) && !told(placement) && !told(storage)) return "";
  JsonObject out;
  out.add("type", "ttnn.Tensor");
  if (told(shape)) out.add_raw("original_shape", keyword_json(*shape));
  if (dtype != nullptr) out.add_raw("original_dtype", one_line(*dtype));
  if (layout != nullptr) out.add_raw("layout", one_line(*layout));
  if (told(memory))
    out.add_raw("memory_config", memory->is(Kind::kObject) ? opened_object(*memory) : one_line(*memory));
  if (told(placement)) out.add_raw("tensor_placement", one_line(*placement));
  out.add_raw("storage_type", told(storage) ? one_line(*storage) : "\"StorageType.DEVICE\"");
  return out.text();
}

// Whether the two are one text. Nearly always they are one tree.
bool same_text(const Node& a, const Node& b) {
  const auto same_tree = [](const auto& self, const Node& x, const Node& y) -> bool {
    if (x.kind != y.kind || x.count != y.count || x.text != y.text) return false;
    for (std::uint32_t i = 0; i < x.count; ++i) {
      if (x.is(Kind::kArray) && !self(self, x.items[i], y.items[i])) return false;
      if (!x.is(Kind::kObject)) continue;
      if (x.fields[i].key != y.fields[i].key || !self(self, x.fields[i].value, y.fields[i].value)) return false;
    }
    return true;
  };
  return same_tree(same_tree, a, b) || one_line(a) == one_line(b);
}

// "weight_dtype" -> "weight", where the vector has all the fields that a tensor given by keyword always has.
std::string_view keyword_tensor(const Node& vector, std::string_view name) {
  for (const std::string_view field : kTensorFields) {
    if (name.size() <= field.size() + 1 || !name.ends_with(field) || name[name.size() - field.size() - 1] != '_')
      continue;
    const std::string_view prefix = name.substr(0, name.size() - field.size() - 1);
    const auto has = [&](std::string_view other) {
      return vector.find((std::string(prefix) += '_') += other) != nullptr;
    };
    if (has("shape") && has("dtype") && has("layout")) return prefix;
  }
  return {};
}

}  // namespace

Result<std::vector<NamedJson>> era2_arguments_from(const Node& vector) {
  std::map<int, std::string> positional;
  std::map<char, std::string> inputs;
  std::map<std::string, std::string, std::less<>> keywords;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const json::Field& field = vector.fields[i];
    const std::string_view name = field.key;
    if (std::find(kNoParameters.begin(), kNoParameters.end(), name) != kNoParameters.end()) continue;
    const bool older = name == "input_shape" || name == "input_specs" || name == "traced_config_name";
    if (older && vector.find("input_a_shape") == nullptr && keyword_tensor(vector, name).empty())
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("'{}' is a parameter of an older kind of vector, which does not tell the whole call; make "
                      "the vectors from the trace again",
                      name));
    if (const char letter = input_letter(name); letter != 0) {
      if (!inputs.contains(letter)) inputs[letter] = tensor_json(vector, std::string("input_") + letter);
    } else if (const std::string_view prefix = keyword_tensor(vector, name); !prefix.empty()) {
      if (!keywords.contains(prefix)) keywords.emplace(prefix, tensor_json(vector, prefix));
    } else if (is_absent(&field.value)) {
      continue;
    } else if (const int position = position_of_name(name); position >= 0) {
      positional[position] = field.value.is(Kind::kObject) ? opened_object(field.value) : one_line(field.value);
    } else {
      keywords[std::string(name)] = keyword_json(field.value);
    }
  }
  // Input tensors stand, in their order, where no other argument stands.
  int next = 0;
  for (auto& [letter, tensor] : inputs) {
    if (tensor.empty()) continue;
    while (positional.contains(next)) ++next;
    positional[next] = std::move(tensor);
  }
  // It is the passed memory config, else the first tensor's. Without a field of its own it was passed where it differs.
  const Node* output = vector.find("output_memory_config");
  const Node* first = vector.find("input_a_memory_config");
  if (!is_absent(output) && output->is(Kind::kObject) && vector.find("memory_config") == nullptr && first != nullptr &&
      !same_text(*first, *output))
    keywords["memory_config"] = opened_object(*output);
  std::vector<NamedJson> out;
  for (auto& [position, text] : positional)
    out.push_back({position_name(static_cast<std::size_t>(position)), std::move(text)});
  for (auto& [name, text] : keywords)
    if (!text.empty()) out.push_back({name, std::move(text)});
  return out;
}

}  // namespace opwright::vectors

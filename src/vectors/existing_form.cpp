#include "vectors/existing_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <vector>

#include "base/json_object.h"
#include "base/json_write.h"
#include "format/master/value_writer.h"
#include "normalize/signatures.h"

namespace opwright::vectors {
namespace {

using json::Kind;
using json::Node;

constexpr std::string_view kMemoryType = "ttnn._ttnn.tensor.MemoryConfig";
constexpr std::array<std::string_view, 6> kEnums{"DataType",           "Layout",          "Topology", "SigmoidMode",
                                                 "TensorMemoryLayout", "ShardOrientation"};
constexpr std::array<std::string_view, 6> kTensorFields{
    "shape", "dtype", "layout", "memory_config", "tensor_placement", "storage_type"};
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

int position_of(std::string_view name) {  // "arg3" -> 3, else -1
  if (!name.starts_with("arg") || name.size() > 6 || name.size() < 4) return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

std::string one_line(const Node& node) {
  std::string out;
  json::append_python(out, node, {});
  return out;
}

bool is_tensor(const Node& node) { return node.is(Kind::kObject) && node.string_field("type") == "ttnn.Tensor"; }

// ---- writing --------------------------------------------------------------------------------------------------------

std::string tuple_text(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string list_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
  return text + "]";
}

std::string shard_json(const ShardSpec& spec, bool nd) {
  std::string grid = "[";
  for (const CoreRange& range : spec.grid)
    grid += fmt::format("{}{{\"end\": {{\"x\": {}, \"y\": {}}}, \"start\": {{\"x\": {}, \"y\": {}}}}}",
                        grid.size() > 1 ? ", " : "", range.end.x, range.end.y, range.start.x, range.start.y);
  JsonObject object;
  object.add_raw("grid", grid + "]");
  if (spec.orientation.value == Orientation::kUnknown)
    object.add("orientation", spec.orientation.unknown);
  else if (spec.orientation.present())
    object.add("orientation", static_cast<std::int64_t>(spec.orientation.value == Orientation::kColMajor));
  if (nd && !spec.distribution.empty()) object.add("shard_distribution_strategy", spec.distribution);
  object.add_raw(nd ? "shard_shape" : "shape", list_text(spec.shape));
  return object.text();
}

// Fields that we have no word for, as an era-2 master writes them.
std::string more_json(const std::string& name, const Value& value) {
  OpConfig one;
  one.args.push_back({name, value});
  const std::string object = format::era2_arguments(one);
  return object.substr(object.find(": ") + 2, object.size() - object.find(": ") - 3);
}

// What the library's to_json gives, with the two enum numbers as names.
std::string memory_json(const MemoryConfig& memory) {
  std::map<std::string, std::string, std::less<>> data{{"created_with_nd_shard_spec", "false"},
                                                       {"per_core_allocation", "false"}};
  if (memory.buffer.present()) data["buffer_type"] = json_string(memory.buffer.name());
  if (memory.layout.present()) data["memory_layout"] = json_string(memory.layout.name());
  if (memory.shard) data["shard_spec"] = shard_json(*memory.shard, false);
  if (memory.nd_shard) data["nd_shard_spec"] = shard_json(*memory.nd_shard, true);
  for (const auto& [name, value] : memory.more) data[name] = more_json(name, value);
  JsonObject object;
  for (const auto& [name, text] : data) object.add_raw(name, text);
  return JsonObject().add("type", kMemoryType).add_raw("data", object.text()).text();
}

void write_tensor(JsonObject& out, const std::string& prefix, const TensorSpec& spec, const Node& recorded) {
  const auto cell = [&](std::string_view field, bool there, const auto& text) {
    if (there)
      out.add_raw(fmt::format("{}_{}", prefix, field), text());
    else
      out.add(fmt::format("{}_{}", prefix, field), kAbsentCell);
  };
  cell("shape", spec.has_shape, [&] { return json_string(tuple_text(spec.shape)); });
  cell("dtype", spec.dtype.present(), [&] { return json_string(fmt::format("DataType.{}", spec.dtype.name())); });
  cell("layout", spec.layout.present(), [&] { return json_string(fmt::format("Layout.{}", spec.layout.name())); });
  cell("memory_config", spec.memory.has_value(), [&] { return memory_json(*spec.memory); });
  if (const Node* placement = recorded.find("tensor_placement"))
    cell("tensor_placement", true, [&] { return one_line(*placement); });
  if (spec.storage.value == StorageType::kHost) out.add(prefix + "_storage_type", "StorageType.HOST");
}

// Named enums of these types are written by str(): `DataType.BFLOAT16`.
const Enum* known_enum(const Value& value) {
  const Enum* e = value.as_enum();
  return e != nullptr && std::find(kEnums.begin(), kEnums.end(), e->type) != kEnums.end() ? e : nullptr;
}

// "-inf" was a number before a master could not hold it.
std::string raw_json(const Node& node) {
  if (node.is(Kind::kString)) {
    if (node.text == "inf" || node.text == "Infinity") return "Infinity";
    if (node.text == "-inf" || node.text == "-Infinity") return "-Infinity";
    if (node.text == "nan" || node.text == "NaN") return "NaN";
  }
  return one_line(node);
}

}  // namespace

std::string era2_arguments_of(const OpConfig& config) {
  OpConfig call = config;
  const auto signature = normalize::signature_of(config.op);
  for (std::size_t i = 0; i < call.args.size() && i < signature.size() && call.args[i].name == signature[i]; ++i)
    call.args[i].name = fmt::format("arg{}", i);
  return format::era2_arguments(call);
}

Result<std::string> existing_fields(const OpConfig& config, const Node& arguments) {
  if (!arguments.is(Kind::kObject)) return fail(ErrorCode::kUnsupported, "arguments that are not an object");
  const auto signature = normalize::signature_of(config.op);
  const auto value_of = [&](std::string_view key, int position) -> const Value* {
    const bool named = position >= 0 && static_cast<std::size_t>(position) < signature.size();
    const std::string_view name = named ? signature[static_cast<std::size_t>(position)] : key;
    for (const Argument& argument : config.args)
      if (argument.name == name) return &argument.value;
    return nullptr;
  };
  std::vector<std::pair<int, const json::Field*>> positional;
  std::vector<const json::Field*> keywords;
  for (const json::Field* field : json::sorted_fields(arguments)) {
    if (const int position = position_of(field->key); position >= 0)
      positional.emplace_back(position, field);
    else if (!is_handle_argument(field->key))
      keywords.push_back(field);
  }
  std::sort(positional.begin(), positional.end());

  JsonObject out;
  const TensorSpec* first = nullptr;
  const MemoryConfig* output = nullptr;  // the keyword `memory_config`, else the first tensor's
  char letter = 'a';
  for (const auto& [position, field] : positional) {
    const Value* value = value_of(field->key, position);
    const TensorSpec* spec = value != nullptr ? value->as_tensor() : nullptr;
    if (!is_tensor(field->value) || spec == nullptr) {
      out.add_raw(field->key, raw_json(field->value));
      continue;
    }
    if (letter > 'z') return fail(ErrorCode::kUnsupported, "more than 26 tensors by position");
    write_tensor(out, fmt::format("input_{}", letter++), *spec, field->value);
    if (first == nullptr) first = spec;
  }
  for (const json::Field* field : keywords) {
    const std::string name(field->key);
    const Value* value = value_of(field->key, -1);
    if (value == nullptr) return fail(ErrorCode::kUnsupported, fmt::format("argument {} of another call", name));
    if (const TensorSpec* spec = value->as_tensor(); spec != nullptr && is_tensor(field->value)) {
      write_tensor(out, name, *spec, field->value);
      if (first == nullptr) first = spec;
    } else if (const MemoryConfig* memory = value->as_memory()) {
      out.add_raw(name, memory_json(*memory));
      if (name == "memory_config") output = memory;
    } else if (const Enum* e = known_enum(*value)) {
      out.add(name, e->type + "." + e->name);
    } else {
      out.add_raw(name, raw_json(field->value));
    }
  }
  if (output == nullptr && first != nullptr && first->memory) output = &*first->memory;
  out.add_raw("output_memory_config", output != nullptr ? memory_json(*output) : "null");
  return out.text();
}

// ---- reading --------------------------------------------------------------------------------------------------------

namespace {

bool is_absent(const Node* node) { return node == nullptr || (node->is(Kind::kString) && node->text == kAbsentCell); }

// A Python literal inside a string: "(1, 2)" -> [1, 2], "None" -> null; nothing when it is just a text.
std::string python_literal(std::string_view text) {
  if (text == "None") return "null";
  if (text == "True") return "true";
  if (text == "False") return "false";
  const char first = text.empty() ? ' ' : text.front();
  if (first != '(' && first != '[' && first != '-' && (first < '0' || first > '9')) return "";
  std::string json;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(",)") || text.substr(i).starts_with(",]")) continue;  // (32,)
    const char c = text[i];
    json += c == '(' ? '[' : c == ')' ? ']' : c == '\'' ? '"' : c;
  }
  json::Document document;
  const auto root = document.parse(json);
  return root && ((*root)->is(Kind::kArray) || (*root)->is(Kind::kNumber)) ? one_line(**root) : "";
}

// {"type": "…MemoryConfig", "data": {…}} -> {…}
std::string opened_object(const Node& node) {
  const Node* data = node.find("data");
  const auto type = node.string_field("type");
  if (node.count == 2 && data != nullptr && type) {
    if (type->ends_with("MemoryConfig")) return one_line(*data);
    const std::string_view name = type->substr(type->rfind('.') == std::string_view::npos ? 0 : type->rfind('.') + 1);
    return JsonObject().add_raw(name, one_line(*data)).text();
  }
  return one_line(node);
}

std::string keyword_json(const Node& node) {
  if (node.is(Kind::kObject)) return opened_object(node);
  if (!node.is(Kind::kString)) return one_line(node);
  const std::size_t dot = node.text.rfind('.');
  const std::string_view type = node.text.substr(0, dot == std::string_view::npos ? 0 : dot);
  if (std::find(kEnums.begin(), kEnums.end(), type) != kEnums.end())
    return JsonObject().add("type", type).add("repr", node.text).text();
  const std::string literal = python_literal(node.text);
  return literal.empty() ? one_line(node) : literal;
}

// The tensor that the fields with this prefix describe; "" when the vector does not pass it.
std::string tensor_json(const Node& vector, const std::string& prefix) {
  const auto cell = [&](std::string_view field) { return vector.find(fmt::format("{}_{}", prefix, field)); };
  bool passed = false;
  for (const std::string_view field : kTensorFields) {
    const Node* node = cell(field);
    passed = passed || (!is_absent(node) && !node->is(Kind::kNull));
  }
  if (!passed) return "";
  JsonObject out;
  out.add("type", "ttnn.Tensor");
  if (const Node* shape = cell("shape"); !is_absent(shape) && !shape->is(Kind::kNull))
    out.add_raw("original_shape", keyword_json(*shape));
  if (const Node* dtype = cell("dtype"); !is_absent(dtype)) out.add_raw("original_dtype", one_line(*dtype));
  if (const Node* layout = cell("layout"); !is_absent(layout)) out.add_raw("layout", one_line(*layout));
  if (const Node* memory = cell("memory_config"); !is_absent(memory) && !memory->is(Kind::kNull))
    out.add_raw("memory_config", memory->is(Kind::kObject) ? opened_object(*memory) : one_line(*memory));
  if (const Node* placement = cell("tensor_placement"); !is_absent(placement) && !placement->is(Kind::kNull))
    out.add_raw("tensor_placement", one_line(*placement));
  const Node* storage = cell("storage_type");
  out.add_raw("storage_type",
              is_absent(storage) || storage->is(Kind::kNull) ? "\"StorageType.DEVICE\"" : one_line(*storage));
  return out.text();
}

// "input_b_dtype" -> 'b'; 0 for other names
char input_letter(std::string_view name) {
  if (!name.starts_with("input_") || name.size() < 9 || name[7] != '_' || name[6] < 'a' || name[6] > 'z') return 0;
  const std::string_view field = name.substr(8);
  return std::find(kTensorFields.begin(), kTensorFields.end(), field) != kTensorFields.end() ? name[6] : '\0';
}

// "weight_dtype" -> "weight", where the vector has all the fields that a tensor given by keyword always has.
std::string_view keyword_tensor(const Node& vector, std::string_view name) {
  for (const std::string_view field : kTensorFields) {
    if (name.size() <= field.size() + 1 || !name.ends_with(field) || name[name.size() - field.size() - 1] != '_')
      continue;
    const std::string_view prefix = name.substr(0, name.size() - field.size() - 1);
    const auto has = [&](std::string_view other) {
      return vector.find(fmt::format("{}_{}", prefix, other)) != nullptr;
    };
    if (has("shape") && has("dtype") && has("layout")) return prefix;
  }
  return {};
}

}  // namespace

Result<std::string> era2_arguments_from(const Node& vector) {
  std::map<int, std::string> positional;
  std::map<char, std::string> inputs;
  std::map<std::string, std::string, std::less<>> keywords;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const json::Field& field = vector.fields[i];
    const std::string name(field.key);
    if (std::find(kNoParameters.begin(), kNoParameters.end(), name) != kNoParameters.end()) continue;
    const bool older = name == "input_shape" || name == "input_specs" || name == "traced_config_name";
    if (older && vector.find("input_a_shape") == nullptr && keyword_tensor(vector, name).empty())
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("'{}' is a parameter of an older kind of vector, which does not tell the whole call; make "
                      "the vectors from the trace again",
                      name));
    if (const char letter = input_letter(name); letter != 0) {
      if (!inputs.contains(letter)) inputs[letter] = tensor_json(vector, fmt::format("input_{}", letter));
    } else if (const std::string_view prefix = keyword_tensor(vector, name); !prefix.empty()) {
      if (!keywords.contains(prefix)) keywords.emplace(prefix, tensor_json(vector, std::string(prefix)));
    } else if (is_absent(&field.value)) {
      continue;
    } else if (const int position = position_of(name); position >= 0) {
      positional[position] = field.value.is(Kind::kObject) ? opened_object(field.value) : one_line(field.value);
    } else {
      keywords[name] = keyword_json(field.value);
    }
  }
  // Input tensors stand, in their order, where no other argument stands.
  int next = 0;
  for (const auto& [letter, tensor] : inputs) {
    if (tensor.empty()) continue;
    while (positional.contains(next)) ++next;
    positional[next] = tensor;
  }
  // It is the passed memory config, else the first tensor's. Without a field of its own it was passed where it differs.
  const Node* output = vector.find("output_memory_config");
  const Node* first = vector.find("input_a_memory_config");
  if (!is_absent(output) && output->is(Kind::kObject) && vector.find("memory_config") == nullptr && first != nullptr &&
      one_line(*first) != one_line(*output))
    keywords["memory_config"] = opened_object(*output);
  JsonObject out;
  for (const auto& [position, text] : positional) out.add_raw(fmt::format("arg{}", position), text);
  for (const auto& [name, text] : keywords)
    if (!text.empty()) out.add_raw(name, text);
  return out.text();
}

std::string field_order(std::string_view name) {
  if (const int position = position_of(name); position >= 0) return fmt::format("0{:04}", position);
  if (name == "output_memory_config") return "3";
  if (const char letter = input_letter(name); letter != 0) {
    const auto at = std::find(kTensorFields.begin(), kTensorFields.end(), name.substr(8)) - kTensorFields.begin();
    return fmt::format("1{}{}", letter, at);
  }
  return fmt::format("2{}", name);
}

}  // namespace opwright::vectors

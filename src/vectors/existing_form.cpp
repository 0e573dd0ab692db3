#include "vectors/existing_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_object.h"
#include "base/json_write.h"
#include "dialect/dialect.h"
#include "format/master/value_writer.h"
#include "model/position_name.h"
#include "vectors/field_names.h"
#include "vectors/one_line.h"

namespace opwright::vectors {
namespace {

using json::Kind;
using json::Node;

constexpr std::string_view kMemoryType = "ttnn._ttnn.tensor.MemoryConfig";

bool is_tensor(const Node& node) { return node.is(Kind::kObject) && node.string_field("type") == "ttnn.Tensor"; }

std::string numbers_text(const Shape& shape) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) (text += i > 0 ? ", " : "") += std::to_string(shape[i]);
  return text;
}
std::string tuple_text(const Shape& shape) { return "(" + numbers_text(shape) + (shape.size() == 1 ? ",)" : ")"); }
std::string list_text(const Shape& shape) { return "[" + numbers_text(shape) + "]"; }

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
  std::vector<std::pair<std::string_view, std::string>> data;  // by name
  if (memory.buffer.present()) data.emplace_back("buffer_type", json_string(memory.buffer.name()));
  data.emplace_back("created_with_nd_shard_spec", "false");
  if (memory.layout.present()) data.emplace_back("memory_layout", json_string(memory.layout.name()));
  if (memory.nd_shard) data.emplace_back("nd_shard_spec", shard_json(*memory.nd_shard, true));
  data.emplace_back("per_core_allocation", "false");
  if (memory.shard) data.emplace_back("shard_spec", shard_json(*memory.shard, false));
  for (const auto& [name, value] : memory.more) {
    const auto place = std::lower_bound(data.begin(), data.end(), name,
                                        [](const auto& one, const std::string& other) { return one.first < other; });
    if (place != data.end() && place->first == name)
      place->second = more_json(name, value);
    else
      data.emplace(place, name, more_json(name, value));
  }
  JsonObject object;
  for (const auto& [name, text] : data) object.add_raw(name, text);
  return JsonObject().add("type", kMemoryType).add_raw("data", object.text()).text();
}

void write_tensor(std::vector<NamedJson>& out, const std::string& prefix, const TensorSpec& spec,
                  const Node& recorded) {
  static const std::string kAbsent = json_string(kAbsentCell);
  const auto cell = [&](const char* field, bool there, const auto& text) {
    out.push_back({prefix + field, there ? text() : kAbsent});
  };
  cell("_shape", spec.has_shape, [&] { return '"' + tuple_text(spec.shape) + '"'; });
  cell("_dtype", spec.dtype.present(), [&] { return json_string("DataType." + std::string(spec.dtype.name())); });
  cell("_layout", spec.layout.present(), [&] { return json_string("Layout." + std::string(spec.layout.name())); });
  cell("_memory_config", spec.memory.has_value(), [&] { return memory_json(*spec.memory); });
  if (const Node* placement = recorded.find("tensor_placement"))
    cell("_tensor_placement", true, [&] { return one_line(*placement); });
  if (spec.storage.value == StorageType::kHost) out.push_back({prefix + "_storage_type", "\"StorageType.HOST\""});
}

// Named enums of these types are written by str(): `DataType.BFLOAT16`.
const Enum* known_enum(const Value& value) {
  const Enum* e = value.as_enum();
  return e != nullptr && std::find(kEnumTypes.begin(), kEnumTypes.end(), e->type) != kEnumTypes.end() ? e : nullptr;
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
  const auto signature = signature_of(config.op);
  for (std::size_t i = 0; i < call.args.size() && i < signature.size() && call.args[i].name == signature[i]; ++i)
    call.args[i].name = position_name(i);
  return format::era2_arguments(call);
}

std::string object_of(const std::vector<NamedJson>& members) {
  std::string out = "{";
  for (const NamedJson& member : members) {
    if (out.size() > 1) out += ", ";
    json::append_quoted(out, member.name);
    (out += ": ") += member.json;
  }
  return out + "}";
}

Result<std::vector<NamedJson>> existing_fields(const OpConfig& config, const Node& arguments) {
  if (!arguments.is(Kind::kObject)) return fail(ErrorCode::kUnsupported, "arguments that are not an object");
  const auto signature = signature_of(config.op);
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
    if (const int position = position_of_name(field->key); position >= 0)
      positional.emplace_back(position, field);
    else if (!is_handle_argument(config.op, field->key))
      keywords.push_back(field);
  }
  std::sort(positional.begin(), positional.end());

  std::vector<NamedJson> out;
  const TensorSpec* first = nullptr;
  std::size_t first_memory = 0;          // where the first tensor's memory config stands
  const MemoryConfig* output = nullptr;  // the keyword `memory_config`, else the first tensor's
  char letter = 'a';
  for (const auto& [position, field] : positional) {
    const Value* value = value_of(field->key, position);
    const TensorSpec* spec = value != nullptr ? value->as_tensor() : nullptr;
    if (!is_tensor(field->value) || spec == nullptr) {
      out.push_back({std::string(field->key), raw_json(field->value)});
      continue;
    }
    if (letter > 'z') return fail(ErrorCode::kUnsupported, "more than 26 tensors by position");
    if (first == nullptr) first_memory = out.size() + kMemoryField;
    write_tensor(out, std::string("input_") + letter++, *spec, field->value);
    if (first == nullptr) first = spec;
  }
  for (const json::Field* field : keywords) {
    const std::string name(field->key);
    const Value* value = value_of(field->key, -1);
    if (value == nullptr) return fail(ErrorCode::kUnsupported, fmt::format("argument {} of another call", name));
    if (const TensorSpec* spec = value->as_tensor(); spec != nullptr && is_tensor(field->value)) {
      if (first == nullptr) first_memory = out.size() + kMemoryField;
      write_tensor(out, name, *spec, field->value);
      if (first == nullptr) first = spec;
    } else if (const MemoryConfig* memory = value->as_memory()) {
      out.push_back({name, memory_json(*memory)});
      if (name == "memory_config") output = memory;
    } else if (const Enum* e = known_enum(*value)) {
      out.push_back({name, json_string(e->type + "." + e->name)});
    } else {
      out.push_back({name, raw_json(field->value)});
    }
  }
  std::string memory = output != nullptr ? memory_json(*output) : "null";
  if (output == nullptr && first != nullptr && first->memory) memory = out[first_memory].json;
  out.push_back({"output_memory_config", std::move(memory)});
  return out;
}

}  // namespace opwright::vectors

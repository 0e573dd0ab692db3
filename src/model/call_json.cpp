#include "model/call_json.h"

#include <fmt/format.h>

#include <cmath>

#include "model/position_name.h"

namespace opwright {
namespace {

Result<Shape> shape_of(const json::Node& node) {
  if (!node.is(json::Kind::kArray) && !node.is(json::Kind::kNull))
    return fail(ErrorCode::kBadInput, "a shape is no list");
  Shape out;
  for (const json::Node& item : node) {
    const auto n = item.as_int64();
    if (!n) return fail(ErrorCode::kBadInput, "a shape member is not a whole number");
    out.push_back(*n);
  }
  return out;
}

Result<Fields> fields_of(const json::Node& node) {
  Fields fields;
  for (std::size_t i = 0; node.is(json::Kind::kObject) && i < node.count; ++i) {
    OPWRIGHT_TRY_ASSIGN(Value value, decode_value(node.fields[i].value));
    fields.emplace_back(node.fields[i].key, std::move(value));
  }
  return fields;
}

// Fields that we have no word for.
Status read_more(const json::Node& node, Fields& more) {
  const json::Node* given = node.find("more");
  if (given == nullptr) return {};
  OPWRIGHT_TRY_ASSIGN(Fields fields, fields_of(*given));
  for (auto& field : fields) more.push_back(std::move(field));
  return {};
}

Result<ShardSpec> shard_of(const json::Node& node) {
  ShardSpec shard;
  if (const json::Node* grid = node.find("grid"))
    for (const json::Node& range : *grid) {
      OPWRIGHT_TRY_ASSIGN(const Shape corners, shape_of(range));
      if (corners.size() != 4) return fail(ErrorCode::kBadInput, "a core range needs four numbers");
      shard.grid.push_back({{corners[0], corners[1]}, {corners[2], corners[3]}});
    }
  if (const json::Node* shape = node.find("shape")) {
    OPWRIGHT_TRY_ASSIGN(shard.shape, shape_of(*shape));
  }
  shard.orientation = parse_orientation(node.string_field("orientation").value_or(""));
  shard.distribution = node.string_field("distribution").value_or("");
  OPWRIGHT_TRY(read_more(node, shard.more));
  return shard;
}

Result<MemoryConfig> memory_of(const json::Node& node) {
  MemoryConfig config;
  config.layout = parse_memory_layout(node.string_field("layout").value_or(""));
  config.buffer = parse_buffer_type(node.string_field("buffer").value_or(""));
  for (const auto& [key, shard_field] :
       {std::pair{"shard", &MemoryConfig::shard}, {"nd_shard", &MemoryConfig::nd_shard}}) {
    const json::Node* given = node.find(key);
    if (given == nullptr || given->is(json::Kind::kNull)) continue;
    OPWRIGHT_TRY_ASSIGN(ShardSpec shard, shard_of(*given));
    (config.*shard_field).emplace(std::move(shard));
  }
  OPWRIGHT_TRY(read_more(node, config.more));
  return config;
}

Result<Placement> placement_of(const json::Node& node) {
  Placement placement;
  if (const json::Node* dims = node.find("dims"))
    for (const json::Node& dim : *dims) placement.dims.emplace_back(dim.text);
  for (const auto& [key, shape] : {std::pair{"distribution", &Placement::distribution}, {"mesh", &Placement::mesh}})
    if (const json::Node* given = node.find(key)) {
      OPWRIGHT_TRY_ASSIGN(placement.*shape, shape_of(*given));
    }
  return placement;
}

Result<TensorSpec> tensor_of(const json::Node& node) {
  TensorSpec spec;
  const json::Node* shape = node.find("shape");
  if (shape == nullptr) return fail(ErrorCode::kBadInput, "a tensor without shape");
  OPWRIGHT_TRY_ASSIGN(spec.shape, shape_of(*shape));
  spec.has_shape = !shape->is(json::Kind::kNull);  // null: the trace has lost it
  spec.type = node.string_field("type").value_or("");
  spec.dtype = parse_dtype(node.string_field("dtype").value_or(""));
  spec.layout = parse_layout(node.string_field("layout").value_or(""));
  spec.storage = parse_storage_type(node.string_field("storage").value_or(""));
  if (const json::Node* memory = node.find("memory"); memory != nullptr && memory->is(json::Kind::kObject)) {
    OPWRIGHT_TRY_ASSIGN(spec.memory, memory_of(*memory));
  }
  if (const json::Node* tile = node.find("tile"); tile != nullptr && tile->is(json::Kind::kArray)) {
    OPWRIGHT_TRY_ASSIGN(spec.tile, shape_of(*tile));
  }
  if (const json::Node* mesh = node.find("mesh"); mesh != nullptr && mesh->is(json::Kind::kArray)) {
    Placement placement;
    OPWRIGHT_TRY_ASSIGN(placement.mesh, shape_of(*mesh));
    spec.placement = std::move(placement);
  }
  if (const json::Node* placement = node.find("placement")) {
    OPWRIGHT_TRY_ASSIGN(spec.placement, placement_of(*placement));
  }
  if (const json::Node* shape_there = node.find("device_shape")) {
    OPWRIGHT_TRY_ASSIGN(spec.device_shape, shape_of(*shape_there));
  }
  if (const json::Node* freed = node.find("deallocated"); freed != nullptr && freed->is_true())
    spec.more.emplace_back("deallocated", Value(true));
  OPWRIGHT_TRY(read_more(node, spec.more));
  return spec;
}

// A config whose tag says what it is; `type` in it says it more closely.
Result<Value> structure_of(std::string type, const json::Node& node) {
  Fields fields;
  if (!node.is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput, fmt::format("a {} is no object with fields", type));
  if (const auto named = node.string_field("type")) type = *named;
  for (std::size_t i = 0; i < node.count; ++i) {
    const auto& [key, field] = node.fields[i];
    if (key == "type") continue;
    OPWRIGHT_TRY_ASSIGN(Value value, decode_value(field));
    if (key.ends_with("grid_size"))
      if (const List* pair = value.as_list(); pair != nullptr && pair->size() == 2)
        value = Value::structure("CoreCoord", {{"x", (*pair)[0]}, {"y", (*pair)[1]}});
    fields.emplace_back(key, std::move(value));
  }
  return Value::structure(std::move(type), std::move(fields));
}

Result<Value> list_of(const json::Node& node) {
  List list;
  for (const json::Node& item : node) {
    OPWRIGHT_TRY_ASSIGN(Value value, decode_value(item));
    list.push_back(std::move(value));
  }
  return Value(std::move(list));
}

// Any other struct: named fields, and members without a name.
Result<Value> struct_of(const json::Node& node) {
  Fields fields;
  if (const json::Node* items = node.find("items"))
    for (const json::Node& item : *items) {
      OPWRIGHT_TRY_ASSIGN(Value value, decode_value(item));
      fields.emplace_back("", std::move(value));
    }
  if (const json::Node* named = node.find("fields")) {
    OPWRIGHT_TRY_ASSIGN(Fields more, fields_of(*named));
    for (auto& field : more) fields.push_back(std::move(field));
  }
  return Value::structure(std::string(node.string_field("type").value_or("")), std::move(fields));
}

Result<Value> tagged(std::string_view tag, const json::Node& node) {
  if (tag == "tensor") {
    OPWRIGHT_TRY_ASSIGN(TensorSpec spec, tensor_of(node));
    return Value::tensor(std::move(spec));
  }
  if (tag == "memory_config") {
    OPWRIGHT_TRY_ASSIGN(MemoryConfig config, memory_of(node));
    return Value::memory(std::move(config));
  }
  if (tag == "dtype") return Value(Enum{"DataType", std::string(node.text)});
  if (tag == "layout") return Value(Enum{"Layout", std::string(node.text)});
  if (tag == "float")
    return Value(node.text == "nan" ? std::nan("") : node.text == "-inf" ? -INFINITY : double{INFINITY});
  if (tag == "shape" || tag == "tuple" || tag == "tile") return list_of(node);
  if (tag == "enum" && node.is(json::Kind::kArray) && node.count == 2)
    return Value(Enum{std::string(node.items[0].text), std::string(node.items[1].text)});
  if (tag == "compute_kernel_config") return structure_of("ComputeKernelConfig", node);
  if (tag == "conv_config") return structure_of("Conv2dConfig", node);
  if (tag == "core_grid") return structure_of("CoreGrid", node);
  if (tag == "program_config") return structure_of("", node);
  if (tag == "struct") return struct_of(node);
  if (tag == "dict") {
    OPWRIGHT_TRY_ASSIGN(Fields entries, fields_of(node));
    return Value::dict(std::move(entries));
  }
  if (tag == "opaque")
    return Value::opaque(std::string(node.string_field("type").value_or("")),
                         std::string(node.string_field("text").value_or("")));
  if (tag == "core_range_set") {
    OPWRIGHT_TRY_ASSIGN(Value ranges, list_of(node));
    return Value::structure("CoreRangeSet", {{"", std::move(ranges)}});
  }
  if (tag == "device") return Value::opaque("MeshDevice", "device");
  if (tag == "mesh_coords" || tag == "global_semaphore") return Value::opaque(std::string(tag), "");
  return fail(ErrorCode::kBadInput, fmt::format("nothing is known of a value {{\"{}\": …}}", tag));
}

}  // namespace

Result<Value> decode_value(const json::Node& node) {
  switch (node.kind) {
    case json::Kind::kNull:
      return Value();
    case json::Kind::kBool:
      return Value(node.is_true());
    case json::Kind::kNumber:
      if (node.is_integer()) {
        if (const auto i = node.as_int64()) return Value(*i);
        return Value(BigInt{std::string(node.text)});
      }
      return Value(std::strtod(std::string(node.text).c_str(), nullptr));
    case json::Kind::kString:
      return Value(std::string(node.text));
    case json::Kind::kArray:
      return list_of(node);
    case json::Kind::kObject:
      if (node.count == 1) return tagged(node.fields[0].key, node.fields[0].value);
      break;
  }
  return fail(ErrorCode::kBadInput, "a value must be a scalar, a list or an object of one tag");
}

Result<OpConfig> decode_call(const json::Node& call) {
  OpConfig config;
  const auto op = call.string_field("op");
  if (!op) return fail(ErrorCode::kBadInput, "the call names no op");
  config.op = *op;
  if (const json::Node* args = call.find("args")) {
    std::size_t position = 0;
    for (const json::Node& arg : *args) {
      OPWRIGHT_TRY_ASSIGN(Value value, decode_value(arg));
      config.args.push_back({position_name(position++), std::move(value)});
    }
  }
  if (const json::Node* kwargs = call.find("kwargs"); kwargs != nullptr && !kwargs->is(json::Kind::kNull)) {
    if (!kwargs->is(json::Kind::kObject)) return fail(ErrorCode::kBadInput, "kwargs is no object with names");
    for (std::size_t i = 0; i < kwargs->count; ++i) {
      OPWRIGHT_TRY_ASSIGN(Value value, decode_value(kwargs->fields[i].value));
      config.args.push_back({std::string(kwargs->fields[i].key), std::move(value)});
    }
  }
  return config;
}

Result<OutputSpec> decode_output(const json::Node& output) {
  OPWRIGHT_TRY_ASSIGN(TensorSpec spec, tensor_of(output));
  OutputSpec out{std::move(spec), {}, {}};
  if (const json::Node* padded = output.find("padded_shape")) {
    OPWRIGHT_TRY_ASSIGN(out.padded, shape_of(*padded));
  }
  return out;
}

}  // namespace opwright

#include "format/master/value_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_write.h"
#include "dialect/dialect.h"
#include "format/lift.h"
#include "model/position_name.h"

namespace opwright::format {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

class ObjectText {
 public:
  void add(std::string_view name, const std::string& json) {
    text_ += (text_.size() > 1 ? ", " : "") + quoted(name) + ": " + json;
  }
  std::string done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string list_text(const List& list, const auto& write) {
  std::string text = "[";
  for (const Value& item : list) text += (text.size() > 1 ? ", " : "") + write(item);
  return text + "]";
}

std::string ints(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

std::string coord(const CoreCoord& c) { return fmt::format("{{\"x\": {}, \"y\": {}}}", c.x, c.y); }

std::string float_json(double value) {
  if (std::isfinite(value)) return json::float_text(value);
  return std::isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"";
}

// ---- era 2: what the Python tracers write -------------------------------------------------------------------------

std::string era2_value(const Value& value);

std::string era2_shard(const std::optional<ShardSpec>& spec) {
  if (!spec) return "null";
  std::string grid = "[";
  for (const CoreRange& range : spec->grid)
    grid += (grid.size() > 1 ? ", " : "") +
            fmt::format("{{\"end\": {}, \"start\": {}}}", coord(range.end), coord(range.start));
  ObjectText object;
  object.add("grid", grid + "]");
  if (spec->orientation.present()) object.add("orientation", quoted(spec->orientation.name()));
  object.add(spec->distribution.empty() ? "shape" : "shard_shape", ints(spec->shape));
  if (!spec->distribution.empty()) object.add("shard_distribution_strategy", quoted(spec->distribution));
  for (const auto& [name, value] : spec->more) object.add(name, era2_value(value));
  return object.done();
}

std::string era2_memory(const MemoryConfig& config) {
  ObjectText object;
  if (config.buffer.present()) object.add("buffer_type", quoted("BufferType." + std::string(config.buffer.name())));
  object.add("interleaved", config.sharded() ? "false" : "true");
  object.add("is_sharded", config.sharded() ? "true" : "false");
  if (config.layout.present())
    object.add("memory_layout", quoted("TensorMemoryLayout." + std::string(config.layout.name())));
  if (config.nd_shard) object.add("nd_shard_spec", era2_shard(config.nd_shard));
  bool unread = false;  // a shard spec that no grammar read stays the text it was
  for (const auto& [name, value] : config.more) {
    const Opaque* opaque = value.as_opaque();
    unread = unread || name == "shard_spec";
    object.add(name, opaque != nullptr && opaque->type == name ? quoted(opaque->text) : era2_value(value));
  }
  if (!unread) object.add("shard_spec", era2_shard(config.shard));
  return object.done();
}

std::string era2_tensor(const TensorSpec& spec) {
  ObjectText object;
  if (spec.layout.present()) object.add("layout", quoted("Layout." + std::string(spec.layout.name())));
  if (spec.memory) object.add("memory_config", era2_memory(*spec.memory));
  if (spec.dtype.present()) object.add("original_dtype", quoted("DataType." + std::string(spec.dtype.name())));
  if (spec.has_shape) object.add("original_shape", ints(spec.shape));
  if (spec.device_shape) object.add("shape", ints(*spec.device_shape));
  if (spec.storage.present()) object.add("storage_type", quoted("StorageType." + std::string(spec.storage.name())));
  if (spec.placement) {
    std::string dims = "[";
    for (const std::string& dim : spec.placement->dims)
      dims += (dims.size() > 1 ? ", " : "") + fmt::format("'Placement{}'", dim);
    ObjectText placement;
    placement.add("distribution_shape", quoted(ints(spec.placement->distribution)));
    placement.add("mesh_device_shape", quoted(ints(spec.placement->mesh)));
    placement.add("placement", quoted(dims + "]"));
    object.add("tensor_placement", placement.done());
  }
  object.add("type", quoted(spec.type.empty() ? "ttnn.Tensor" : spec.type));
  for (const auto& [name, value] : spec.more) object.add(name, era2_value(value));
  return object.done();
}

std::string era2_value(const Value& value) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string("null"); }, [](bool b) { return std::string(b ? "true" : "false"); },
          [](std::int64_t i) { return std::to_string(i); }, [](const BigInt& i) { return i.digits; },
          [](double d) { return float_json(d); }, [](const std::string& s) { return quoted(s); },
          [](const Enum& e) {
            return fmt::format("{{\"repr\": {}, \"type\": {}}}",
                               quoted(e.type.empty() ? e.name : e.type + "." + e.name), quoted(e.type));
          },
          [](const List& list) { return list_text(list, era2_value); },
          [](const std::shared_ptr<const Dict>& dict) {
            ObjectText object;
            for (const auto& [name, item] : dict->entries) object.add(name, era2_value(item));
            return object.done();
          },
          [](const std::shared_ptr<const Struct>& s) {
            ObjectText object;
            if (s->fields.size() == 1 && s->fields[0].first.empty() && s->fields[0].second.as_string() != nullptr) {
              object.add("type", quoted(s->type));
              object.add("value", quoted(*s->fields[0].second.as_string()));
              return object.done();
            }
            std::int64_t position = 0;
            for (const auto& [name, item] : s->fields)
              object.add(name.empty() ? std::to_string(position++) : name, era2_value(item));
            object.add("type", quoted(s->type));
            return object.done();
          },
          [](const Opaque& o) {
            return fmt::format("{{\"type\": {}, \"value\": {}}}", quoted(o.type), quoted(o.text));
          },
          [](const std::shared_ptr<const TensorSpec>& spec) { return era2_tensor(*spec); },
          [](const std::shared_ptr<const MemoryConfig>& config) { return era2_memory(*config); }},
      value.data());
}

// ---- era 1: what the graph tracer made of C++ arguments -------------------------------------------------------------

std::string era1_member(const Value& value);

std::string era1_grid(const std::vector<CoreRange>& grid) {
  const auto pair = [](const CoreRange& range) {
    return fmt::format("[{}, {}]", coord(range.start), coord(range.end));
  };
  if (grid.size() == 1) return pair(grid[0]);
  std::string text = "[";
  for (const CoreRange& range : grid) text += (text.size() > 1 ? ", " : "") + pair(range);
  return text + "]";
}

std::string era1_shard(const std::optional<ShardSpec>& spec, bool nd) {
  if (!spec) return "\"std::nullopt\"";
  ObjectText object;
  if (nd) object.add("shard_shape", ints(spec->shape));
  object.add("grid", era1_grid(spec->grid));
  if (!nd) object.add("shape", ints(spec->shape));
  if (spec->orientation.present())
    object.add("orientation", quoted("ShardOrientation::" + std::string(spec->orientation.name())));
  if (!spec->distribution.empty())
    object.add("shard_distribution_strategy", quoted("ShardDistributionStrategy::" + spec->distribution));
  return object.done();
}

std::string era1_memory(const MemoryConfig& config) {
  ObjectText object;
  if (config.layout.present())
    object.add("memory_layout", quoted("TensorMemoryLayout::" + std::string(config.layout.name())));
  if (config.buffer.present()) object.add("buffer_type", quoted("BufferType::" + std::string(config.buffer.name())));
  object.add("shard_spec", era1_shard(config.shard, false));
  object.add("nd_shard_spec", era1_shard(config.nd_shard, true));
  for (const auto& [name, value] : config.more) object.add(name, era1_member(value));
  return object.done();
}

std::string era1_tensor(const TensorSpec& spec) {
  ObjectText layout;
  if (spec.dtype.present()) layout.add("dtype", quoted("DataType::" + std::string(spec.dtype.name())));
  if (spec.tile)
    layout.add("page_config", fmt::format("{{\"config\": {{\"tile\": {{\"tile_shape\": {}}}}}}}", ints(*spec.tile)));
  if (spec.memory) layout.add("memory_config", era1_memory(*spec.memory));
  ObjectText tensor;
  ObjectText inner;
  if (spec.has_shape) inner.add("logical_shape", ints(spec.shape));
  for (const auto& [name, value] : spec.more) {
    if (name == "alignment") layout.add(name, era1_member(value));
  }
  inner.add("tensor_layout", layout.done());
  tensor.add("storage", "{}");
  tensor.add("tensor_spec", inner.done());
  if (spec.layout.present()) tensor.add("layout", quoted("Layout::" + std::string(spec.layout.name())));
  if (spec.storage.present()) tensor.add("storage_type", quoted("StorageType::" + std::string(spec.storage.name())));
  for (const auto& [name, value] : spec.more) {
    if (name != "alignment") tensor.add(name, era1_member(value));
  }
  return tensor.done();
}

std::string opaque_text(const Opaque& o) {
  if (o.type == "unsupported") return "[ unsupported type , " + o.text + "]";
  if (o.type == "any") return "[any, empty]";
  if (o.type == "address") return "0x0";
  return o.text;
}

// Members of structs: JSON values where era 1 had them, enum names as C++ spells them.
std::string era1_member(const Value& value) {
  if (value.is_null()) return "\"std::nullopt\"";
  if (const bool* b = value.as_bool()) return *b ? "1" : "0";
  if (const double* d = value.as_float()) return float_json(*d);
  if (const Enum* e = value.as_enum()) return quoted(e->type.empty() ? e->name : e->type + "::" + e->name);
  if (const List* list = value.as_list()) return list_text(*list, era1_member);
  if (const Opaque* o = value.as_opaque()) return quoted(opaque_text(*o));
  if (const TensorSpec* spec = value.as_tensor()) return era1_tensor(*spec);
  if (const MemoryConfig* config = value.as_memory()) return era1_memory(*config);
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) fields = &s->fields;
  if (fields != nullptr) {
    ObjectText object;
    std::int64_t position = 0;
    for (const auto& [name, item] : *fields)
      object.add(name.empty() ? std::to_string(position++) : name, era1_member(item));
    return object.done();
  }
  std::string text = to_text(value);
  return text;
}

// At the top level scalars, lists and enums are strings, objects carry their type name.
std::string era1_argument(const Value& value) {
  if (value.is_null()) return "\"nullopt\"";
  if (const TensorSpec* spec = value.as_tensor()) return fmt::format("{{\"Tensor\": {}}}", era1_tensor(*spec));
  if (const MemoryConfig* config = value.as_memory())
    return fmt::format("{{\"MemoryConfig\": {}}}", era1_memory(*config));
  if (const Struct* s = value.as_struct(); s != nullptr && !s->type.empty())
    return fmt::format("{{{}: {}}}", quoted(s->type), era1_member(value));
  if (const Enum* e = value.as_enum()) return quoted(e->type.empty() ? e->name : e->type + "::" + e->name);
  if (const Opaque* o = value.as_opaque()) {
    if (o->type.empty() || o->type == "unsupported" || o->type == "any" || o->type == "address" || o->type == "text")
      return quoted(opaque_text(*o));
    return fmt::format("{{{}: null}}", quoted(o->type));
  }
  bool plain = value.as_dict() == nullptr;
  for_each_tensor(value, [&](const TensorSpec&) { plain = false; });
  for_each_memory(value, [&](const MemoryConfig&) { plain = false; });
  if (!plain) return era1_member(value);
  if (const std::string* s = value.as_string()) return quoted(*s);
  if (const List* list = value.as_list()) return quoted(list_text(*list, era1_member));
  return quoted(to_text(value));
}

// The objects of an era-1 master have no types inside them: what a C++ argument printed may say more.
bool says_the_same(const std::string& json, std::string_view printed, std::string_view op) {
  json::Document document;
  const auto root = document.parse(json);
  if (!root) return false;
  LiftNotes notes;
  notes.dialect = &dialect_of(op);
  const json::Node& node = **root;
  const Value read = node.is(json::Kind::kString) ? lift_text(node.text, notes) : lift_json(node, notes);
  return to_text(read) == to_text(lift_text(printed, notes));
}

}  // namespace

std::string era2_arguments(const OpConfig& config) {
  ObjectText object;
  for (const Argument& argument : config.args) object.add(argument.name, era2_value(argument.value));
  return object.done();
}

std::string era1_arguments(const OpConfig& config, const FormKind kind, const json::Node& form) {
  const bool has_texts = kind == FormKind::kGraph && form.is(json::Kind::kArray);
  std::string text = "[";
  for (const Argument& argument : config.args) {
    std::string json = era1_argument(argument.value);
    const int position = has_texts ? position_of_name(argument.name) : -1;
    if (position >= 0 && static_cast<std::uint32_t>(position) < form.count) {
      const json::Node& printed = form.items[position];
      if (printed.is(json::Kind::kString) && !says_the_same(json, printed.text, config.op)) json = quoted(printed.text);
    }
    text += (text.size() > 1 ? ", " : "") + fmt::format("{{{}: {}}}", quoted(argument.name), json);
  }
  return text + "]";
}

}  // namespace opwright::format

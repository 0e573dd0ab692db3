#include "format/per_op/json_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>

#include "base/json_write.h"
#include "format/lift.h"
#include "format/per_op/json_shapes.h"

namespace opwright::format {

using capture::Encoder;
using json::Kind;
using json::Node;

void JsonValues::reference(const Encoder& value, Encoder& out) { out.reference(writer_.value(value.view())); }

bool JsonValues::keep(const Encoder& value, std::string_view text, bool has_dict, Encoder& out) {
  const ValueId id = writer_.value(value.view());
  const auto [known, added] = texts_.try_emplace(id, text, has_dict);
  if (added)
    writer_.text(id, has_dict, text);
  else if (known->second.first != text || known->second.second != has_dict)
    return false;
  out.reference(id);
  return true;
}

void JsonValues::put_number(std::string_view token, Encoder& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (token == "NaN") return out.real(std::numeric_limits<double>::quiet_NaN());
  if (token == "Infinity" || token == "-Infinity") return out.real(token[0] == '-' ? -kInfinity : kInfinity);
  if (token.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole = 0;
    const auto result = std::from_chars(token.data(), token.data() + token.size(), whole);
    return result.ec == std::errc() ? out.integer(whole) : out.big_integer(token);
  }
  double real = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), real).ec == std::errc::result_out_of_range)
    real = std::strtod(std::string(token).c_str(), nullptr);
  out.real(real);
}

void JsonValues::put(const Node& node, Encoder& out) {
  switch (node.kind) {
    case Kind::kNull:
      return out.null();
    case Kind::kBool:
      return out.boolean(node.is_true());
    case Kind::kNumber:
      return put_number(node.text, out);
    case Kind::kString:
      return out.string(node.text);
    case Kind::kArray:
      out.list(node.count);
      for (const Node& item : node) put(item, out);
      return;
    case Kind::kObject: {
      const std::size_t before = out.size(), tensors = specs_.size(), contents = contents_.size();
      if (put_object(node, out)) return;
      out.cut(before);  // what was begun of it is not what it is
      specs_.resize(tensors);
      contents_.resize(contents);
      out.dict(node.count);
      for (std::uint32_t i = 0; i < node.count; ++i) {
        out.string(node.fields[i].key);
        put(node.fields[i].value, out);
      }
      return;
    }
  }
}

bool JsonValues::put_object(const Node& node, Encoder& out) {
  const auto type = node.string_field("type");
  if (!type) return put_memory(node, out) || put_compute(node, out);
  if (*type == "ttnn.Tensor") return put_tensor(node, out);
  if (*type == "torch.Tensor") return put_torch_tensor(node, out);
  if (*type == "MeshDevice" && node.count > 2) return put_mesh_device(node, out);
  if (put_printed(node, *type, out)) return true;
  return put_matmul(node, *type, out);
}

// ------------------------------------------------------------------------------------------------------------- objects

// "DataType.BFLOAT16"
bool JsonValues::put_enum(const Node* text, Encoder& out) {
  if (text == nullptr || !text->is(Kind::kString)) return false;
  const std::size_t dot = text->text.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view type = text->text.substr(0, dot), member = text->text.substr(dot + 1);
  if (!is_word(type) || !is_word(member)) return false;
  Encoder value;
  value.enumerator(type, member);
  reference(value, out);
  return true;
}

// {"type": T, "repr": text} of objects with a __dict__, {"type": T, "value": text} of others.
bool JsonValues::put_printed(const Node& node, std::string_view type, Encoder& out) {
  const bool has_dict = keys_are(node, {"type", "repr"});
  if (!has_dict && !keys_are(node, {"type", "value"})) return false;
  const Node& shown = node.fields[1].value;
  if (!shown.is(Kind::kString) || type.find('.') != std::string_view::npos) return false;
  const std::string_view text = shown.text;
  Encoder value;
  if (has_dict && is_word(type) && text.starts_with(type) && text.size() > type.size() + 1 &&
      text[type.size()] == '.' && is_word(text.substr(type.size() + 1))) {
    value.enumerator(type, text.substr(type.size() + 1));
    reference(value, out);
    return true;
  }
  value.opaque(type, text);
  return keep(value, text, has_dict, out);
}

bool JsonValues::put_memory(const Node& node, Encoder& out) {
  if (!keys_are(node, {"memory_layout", "buffer_type", "shard_spec", "is_sharded", "interleaved", "hash"}))
    return false;
  const auto field = [&](std::size_t i) -> const Node& { return node.fields[i].value; };
  if (!field(2).is(Kind::kString) || !field(3).is(Kind::kBool) || !field(4).is(Kind::kBool) || !field(5).is_integer())
    return false;
  Encoder value;
  value.structure("MemoryConfig", node.count);
  for (std::uint32_t i = 0; i < node.count; ++i) {
    value.field(node.fields[i].key);
    if (i < 2) {
      if (!put_enum(&field(i), value)) return false;
    } else if (i == 2) {
      put_shard_spec(field(i).text, value);
    } else {
      put(field(i), value);
    }
  }
  reference(value, out);
  return true;
}

// Its parts where the text is understood, with the text beside them; else the text.
void JsonValues::put_shard_spec(std::string_view text, Encoder& out) {
  if (text == "None") return out.null();
  LiftNotes notes;
  Fields fields;
  fields.emplace_back("shard_spec", Value(std::string(text)));
  const MemoryConfig config = read_memory(fields, notes);
  if (config.shard && config.shard->more.empty() && config.shard->orientation.present()) {
    const auto coord = [this](const CoreCoord& at) {
      Encoder value;
      value.structure("CoreCoord", 2);
      value.field("x");
      value.integer(at.x);
      value.field("y");
      value.integer(at.y);
      return writer_.value(value.view());
    };
    std::vector<ValueId> ranges;
    for (const CoreRange& range : config.shard->grid) {
      Encoder value;
      value.structure("CoreRange", 2);
      value.field("start");
      value.reference(coord(range.start));
      value.field("end");
      value.reference(coord(range.end));
      ranges.push_back(writer_.value(value.view()));
    }
    Encoder grid, orientation, spec;
    grid.structure("CoreRangeSet", 1);
    grid.field("ranges");
    grid.list(ranges.size());
    for (const ValueId range : ranges) grid.reference(range);
    orientation.enumerator("ShardOrientation", config.shard->orientation.name());
    spec.structure("ShardSpec", 3);
    spec.field("grid");
    reference(grid, spec);
    spec.field("shape");
    spec.list(config.shard->shape.size());
    for (const std::int64_t dim : config.shard->shape) spec.integer(dim);
    spec.field("orientation");
    reference(orientation, spec);
    if (keep(spec, text, false, out)) return;
  }
  Encoder opaque;
  opaque.opaque("ShardSpec", text);
  reference(opaque, out);
}

bool JsonValues::put_compute(const Node& node, Encoder& out) {
  if (!keys_are(node, {"math_fidelity", "math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en",
                       "throttle_level"}))
    return false;
  Encoder value;
  value.structure("DeviceComputeKernelConfig", node.count);
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const Node& field = node.fields[i].value;
    value.field(node.fields[i].key);
    if (i == 1) {
      if (!field.is(Kind::kString) || (field.text != "True" && field.text != "False")) return false;
      value.boolean(field.text == "True");
    } else if (i >= 2 && i <= 4) {
      if (!field.is(Kind::kBool)) return false;
      value.boolean(field.is_true());
    } else if (!put_enum(&field, value)) {
      return false;
    }
  }
  reference(value, out);
  return true;
}

// The object's own JSON with its class as the last field.
bool JsonValues::put_matmul(const Node& node, std::string_view type, Encoder& out) {
  if (type.find("Matmul") == std::string_view::npos || type.find("ProgramConfig") == std::string_view::npos ||
      !is_word(type) || node.count < 2 || node.fields[node.count - 1].key != "type")
    return false;
  Node own = node;
  own.count = node.count - 1;
  std::string text;
  json::append_python(text, own, {});
  Encoder value;
  value.structure(type, node.count);
  for (std::uint32_t i = 0; i < own.count; ++i) {
    value.field(node.fields[i].key);
    put(node.fields[i].value, value);
  }
  value.field("@json");
  value.string(text);
  reference(value, out);
  return true;
}

bool JsonValues::put_mesh_device(const Node& node, Encoder& out) {
  if (!keys_are(node, {"type", "repr", "shape", "device_ids"}) || !node.fields[1].value.is(Kind::kString)) return false;
  const Node& ids = node.fields[3].value;
  if (!is_integers(&node.fields[2].value) || (!is_integers(&ids) && !ids.is(Kind::kNull))) return false;
  if (ids.is(Kind::kArray) && ids.count == 0) return false;
  Encoder value;
  value.structure("MeshDevice", 2);
  value.field("shape");
  put(node.fields[2].value, value);
  value.field("device_ids");
  if (ids.is(Kind::kNull))
    value.list(0);
  else
    put(ids, value);
  return keep(value, node.fields[1].value.text, false, out);
}

}  // namespace opwright::format

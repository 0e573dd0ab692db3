// The objects that the library's tracer knows by their class: tensors, meshes, configurations.
#include "base/json_write.h"
#include "format/per_op/json_lines.h"
#include "format/per_op/tensor_values.h"
#include "format/per_op/writer.h"

namespace opwright::format {

using capture::Tag;

namespace {

bool truth(const NativeValue* value) {  // bool(value)
  if (value == nullptr || value->is_null() || value->is(Tag::kFalse)) return false;
  if (value->is(Tag::kInt)) return value->number != 0;
  return true;
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

std::string_view class_name(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

// ROW_MAJOR of Layout.ROW_MAJOR: such a tensor has no tiles, whatever its tile says.
bool is_row_major(const NativeValue& spec) {
  const NativeValue* layout = spec.find("layout");
  return layout != nullptr && layout->is(Tag::kEnum) && layout->text == "ROW_MAJOR";
}

}  // namespace

// ------------------------------------------------------------------------------------------------- what tensors are
// made of

void PerOpWriter::tensor(const NativeValue& spec, int level, const Blob* blob, bool freed, std::string& out) {
  const NativeValue* shape = spec.find("shape");
  const NativeValue* dtype = spec.find("dtype");
  JsonLines lines = json_object(out, level);
  lines.text("type", "ttnn.Tensor");
  lines.key("original_shape");
  if (shape != nullptr)
    plain(*shape, lines.inner(), out);
  else
    out += "null";
  if (dtype != nullptr)
    lines.text("original_dtype", printed(*dtype));
  else
    lines.key("original_dtype") += "null";
  if (spec.find("topology") != nullptr || spec.find("device") != nullptr) {
    std::string text;
    mesh(spec, lines.inner(), freed, text);
    if (!text.empty()) lines.key("mesh_device") += text;
  }
  if (!content(blob, lines, out)) {
    if (shape != nullptr) {
      lines.key("shape");
      plain(*shape, lines.inner(), out);
    }
    if (dtype != nullptr) lines.text("dtype", printed(*dtype));
  }
  for (const std::string_view name : {"layout", "storage_type"}) {
    if (const NativeValue* field = spec.find(name); field != nullptr && !field->is_null())
      lines.text(name, printed(*field));
  }
  if (const NativeValue* memory = spec.find("memory_config"); memory != nullptr && !memory->is_null()) {
    lines.key("memory_config");
    if (memory->is_struct("MemoryConfig"))
      shared(*memory, lines.inner(), out);
    else
      json::append_quoted(out, printed(*memory));
  }
  if (style_.extended && !is_row_major(spec)) {
    const NativeValue* tile = spec.find("tile");
    const NativeValue* sides = tile != nullptr ? tile->find("tile_shape") : nullptr;
    const bool usual = sides == nullptr || !sides->is_list() ||
                       (sides->items.size() == 2 && sides->items[0]->number == 32 && sides->items[1]->number == 32);
    if (!usual) {
      lines.key("tile");
      plain(*sides, lines.inner(), out);
    }
  }
  lines.end();
}

// The part that says how the tensor lies on a mesh of devices; nothing where it says nothing.
void PerOpWriter::mesh(const NativeValue& spec, int level, bool freed, std::string& out) {
  JsonLines lines = json_object(out, level);
  bool any = false;
  if (const NativeValue* topology = spec.find("topology")) {
    const NativeValue* placements = topology->find("placements");
    if (placements != nullptr && placements->is_list() && !placements->items.empty()) {
      any = true;
      JsonLines list = json_list(lines.key("placements"), lines.inner());
      for (const NativeValue* placement : placements->items) {
        std::string text(placement->is(Tag::kString) ? placement->text : placement->type);
        if (const NativeValue* dim = placement->find("dim")) text += "(" + printed(*dim) + ")";
        json::append_quoted(list.item(), text);
      }
      list.end();
    }
    if (const NativeValue* shape = topology->find("distribution_shape")) {
      any = true;
      lines.key("distribution_shape");
      plain(*shape, lines.inner(), out);
    }
  }
  if (const NativeValue* device = spec.find("device"); !freed && device != nullptr && device->is(Tag::kStruct)) {
    const NativeValue* ids = device->find("device_ids");
    if (device->type == "MeshDevice" || ids != nullptr) {
      any = true;
      if (const NativeValue* shape = device->find("shape")) {
        lines.key("shape");
        plain(*shape, lines.inner(), out);
      }
      if (ids != nullptr) {
        lines.key("device_ids");
        if (ids->is_list() && !ids->items.empty())
          plain(*ids, lines.inner(), out);
        else
          out += "null";
      }
    }
  }
  lines.end();
  if (!any) out.clear();
}

// Shape, type and elements as they are in the trace; false when it does not have them.
bool PerOpWriter::content(const Blob* blob, JsonLines& lines, std::string& out) {
  TensorContent values;
  if (blob == nullptr || !read_content(trace_.values().value(blob->description), *blob, values)) return false;
  ++tensors_with_values_;
  JsonLines dims = json_list(lines.key("shape"), lines.inner());
  for (const std::int64_t dim : values.shape) dims.item() += std::to_string(dim);
  dims.end();
  lines.text("dtype", values.dtype);
  lines.key("values");
  append_values(values, lines.inner(), out);
  return true;
}

void PerOpWriter::torch_tensor(const NativeValue& spec, int level, const Blob* blob, std::string& out) {
  JsonLines lines = json_object(out, level);
  lines.text("type", "torch.Tensor");
  if (!content(blob, lines, out)) {
    if (const NativeValue* shape = spec.find("shape")) {
      lines.key("shape");
      plain(*shape, lines.inner(), out);
    }
    lines.text("dtype", printed(spec.find("dtype")));
  }
  lines.end();
}

// ---------------------------------------------------------------------------------------------------------
// configurations

void PerOpWriter::memory_config(const NativeValue& config, int level, std::string& out) {
  const NativeValue* shard = config.find("shard_spec");
  const NativeValue* nd_shard = config.find("nd_shard_spec");
  JsonLines lines = json_object(out, level);
  lines.text("memory_layout", printed(config.find("memory_layout")));
  lines.text("buffer_type", printed(config.find("buffer_type")));
  lines.text("shard_spec", printed(shard));
  lines.key("is_sharded") += boolean(truth(config.find("is_sharded")));
  lines.key("interleaved") += boolean(truth(config.find("interleaved")));
  if (const NativeValue* hash = config.find("hash")) {
    lines.key("hash");
    plain(*hash, lines.inner(), out);
  }
  const bool only_nd = (shard == nullptr || shard->is_null()) && nd_shard != nullptr && nd_shard->is(Tag::kStruct);
  if (style_.extended && only_nd) {
    lines.key("nd_shard_spec");
    nd_shard_spec(*nd_shard, lines.inner(), out);
  }
  lines.end();
}

// As the reader of arguments understands it; the library's files do not have it.
void PerOpWriter::nd_shard_spec(const NativeValue& spec, int level, std::string& out) {
  JsonLines lines = json_object(out, level);
  for (std::size_t i = 0; i < spec.names.size(); ++i) {
    const NativeValue& field = *spec.items[i];
    if (spec.names[i] == "grid") {
      const NativeValue* ranges = field.find("ranges");
      JsonLines list = json_list(lines.key("grid"), lines.inner());
      for (std::size_t k = 0; ranges != nullptr && k < ranges->items.size(); ++k) {
        const NativeValue& range = *ranges->items[k];
        JsonLines ends = json_object(list.item(), list.inner());
        for (const std::string_view end : {"start", "end"}) {
          const NativeValue* coord = range.find(end);
          JsonLines xy = json_object(ends.key(end), ends.inner());
          for (const std::string_view axis : {"x", "y"})
            xy.key(axis) += printed(coord != nullptr ? coord->find(axis) : nullptr);
          xy.end();
        }
        ends.end();
      }
      list.end();
    } else if (field.is(Tag::kEnum)) {
      lines.text(spec.names[i], printed(field));
    } else {
      lines.key(spec.names[i]);
      plain(field, lines.inner(), out);
    }
  }
  lines.end();
}

void PerOpWriter::compute_config(const NativeValue& config, int level, std::string& out) {
  JsonLines lines = json_object(out, level);
  lines.text("math_fidelity", printed(config.find("math_fidelity")));
  lines.text("math_approx_mode", printed(config.find("math_approx_mode")));
  for (const std::string_view name : {"fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en"})
    lines.key(name) += boolean(truth(config.find(name)));
  lines.text("throttle_level", printed(config.find("throttle_level")));
  lines.end();
}

// The object's own JSON with its class as the last field.
bool PerOpWriter::program_config(const NativeValue& config, int level, std::string& out) {
  const NativeValue* own = config.find("@json");
  if (own == nullptr || !own->is(Tag::kString)) return false;
  const auto root = document_.parse(own->text);
  if (!root || !(*root)->is(json::Kind::kObject)) return false;
  bool typed = false;
  JsonLines lines = json_object(out, level);
  for (std::uint32_t i = 0; i < (*root)->count; ++i) {
    const json::Field& field = (*root)->fields[i];
    lines.key(field.key);
    if (field.key == "type") {
      typed = true;
      json::append_quoted(out, class_name(config.type));
    } else if (const NativeValue* member = config.find(field.key);
               style_.extended && member != nullptr && member->is(Tag::kEnum)) {
      json::append_quoted(out, printed(*member));  // its own JSON has but a number
    } else if (const NativeValue* fused = config.find(field.key);
               style_.extended && fused != nullptr && fused->find("op_type") != nullptr) {
      // A fused function: its own JSON has but a number of the library's enum, which is no name. Both are kept.
      JsonLines both = json_object(out, lines.inner());
      for (std::uint32_t k = 0; field.value.is(json::Kind::kObject) && k < field.value.count; ++k) {
        both.key(field.value.fields[k].key);
        json::append_python(out, field.value.fields[k].value, {.indent = 2}, both.inner());
      }
      both.text("@text", printed(*fused));
      both.end();
    } else {
      json::append_python(out, field.value, {.indent = 2}, lines.inner());
    }
  }
  if (!typed) lines.text("type", class_name(config.type));
  lines.end();
  return true;
}

void PerOpWriter::mesh_device(const NativeValue& device, int level, std::string& out) {
  JsonLines lines = json_object(out, level);
  lines.text("type", "MeshDevice");
  lines.text("repr", printed(device));
  if (const NativeValue* shape = device.find("shape")) {
    lines.key("shape");
    plain(*shape, lines.inner(), out);
  }
  if (const NativeValue* ids = device.find("device_ids")) {
    lines.key("device_ids");
    if (ids->is_list() && !ids->items.empty())
      plain(*ids, lines.inner(), out);
    else
      out += "null";
  }
  lines.end();
}

}  // namespace opwright::format

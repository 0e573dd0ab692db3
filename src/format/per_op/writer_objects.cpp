// The objects that the library's tracer knows by their class: tensors, meshes, configurations.
#include "base/json_write.h"
#include "base/text.h"
#include "format/native/object_kinds.h"
#include "format/per_op/json_lines.h"
#include "format/per_op/tensor_values.h"
#include "format/per_op/writer.h"

namespace opwright::format {

using capture::Tag;

namespace {

std::string_view boolean(bool value) { return value ? "true" : "false"; }

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
  JsonLines lines = json_object(out, level);
  lines.text("memory_layout", printed(config.find("memory_layout")));
  lines.text("buffer_type", printed(config.find("buffer_type")));
  if (shard != nullptr && shard->is(Tag::kDict))  // what op JSONL wrote in its place
    plain(*shard, lines.inner(), lines.key("shard_spec"));
  else
    lines.text("shard_spec", printed(shard));
  lines.key("is_sharded") += boolean(truth(config.find("is_sharded")));
  lines.key("interleaved") += boolean(truth(config.find("interleaved")));
  if (const NativeValue* hash = config.find("hash")) {
    lines.key("hash");
    plain(*hash, lines.inner(), out);
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
      json::append_quoted(out, last_part(config.type, "."));
    } else {
      json::append_python(out, field.value, {.indent = 2}, lines.inner());
    }
  }
  if (!typed) lines.text("type", last_part(config.type, "."));
  lines.end();
  return true;
}

void PerOpWriter::mesh_device(const NativeValue& device, int level, std::string& out) {
  JsonLines lines = json_object(out, level);
  lines.text("type", "MeshDevice");
  lines.text("repr", printed(device));
  for (const std::string_view name : {"shape", "mesh_shape"}) {  // the second is op JSONL's word
    if (const NativeValue* shape = device.find(name)) plain(*shape, lines.inner(), lines.key(name));
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

// The objects that the library's tracer knows by their class: tensors, meshes, configurations.
#include "base/json_write.h"
#include "base/text.h"
#include "format/native/native_arguments.h"
#include "format/native/object_kinds.h"

namespace opwright::format {

using capture::Tag;
using json::Field;
using json::Node;

namespace {

// ROW_MAJOR of Layout.ROW_MAJOR: such a tensor has no tiles, whatever its tile says.
bool is_row_major(const NativeValue& spec) {
  const NativeValue* layout = spec.find("layout");
  return layout != nullptr && layout->is(Tag::kEnum) && layout->text == "ROW_MAJOR";
}

// The sides of the tile where they are others than 32x32.
const NativeValue* odd_tile(const NativeValue& spec) {
  const NativeValue* tile = is_row_major(spec) ? nullptr : spec.find("tile");
  const NativeValue* sides = tile != nullptr ? tile->find("tile_shape") : nullptr;
  if (sides == nullptr || !sides->is_list()) return nullptr;
  const bool usual = sides->items.size() == 2 && sides->items[0]->number == 32 && sides->items[1]->number == 32;
  return usual ? nullptr : sides;
}

}  // namespace

Node NativeArguments::tensor(const NativeValue& spec, bool freed) {
  const NativeValue* shape = spec.find("shape");
  const NativeValue* dtype = spec.find("dtype");
  Fields fields{{"type", tree_.text("ttnn.Tensor")},
                {"original_shape", shape != nullptr ? plain(*shape) : ArgumentTree::null()},
                {"original_dtype", dtype != nullptr ? printed_text(dtype) : ArgumentTree::null()}};
  if (Node node; mesh(spec, freed, node)) fields.push_back({"mesh_device", node});
  for (const std::string_view name : {"layout", "storage_type"}) {
    if (const NativeValue* field = spec.find(name); field != nullptr && !field->is_null())
      fields.push_back({name, printed_text(field)});
  }
  if (const NativeValue* memory = spec.find("memory_config"); memory != nullptr && !memory->is_null())
    fields.push_back({"memory_config", memory->is_struct("MemoryConfig") ? shared(*memory) : printed_text(memory)});
  if (const NativeValue* sides = odd_tile(spec)) fields.push_back({"tile", plain(*sides)});
  return tree_.object(fields);
}

// The part that says how the tensor lies on a mesh of devices; false where it says nothing.
bool NativeArguments::mesh(const NativeValue& spec, bool freed, Node& out) {
  Fields fields;
  if (const NativeValue* topology = spec.find("topology")) {
    const NativeValue* placements = topology->find("placements");
    if (placements != nullptr && placements->is_list() && !placements->items.empty()) {
      std::vector<Node> list;
      for (const NativeValue* placement : placements->items) {
        std::string text(placement->is(Tag::kString) ? placement->text : placement->type);
        if (const NativeValue* dim = placement->find("dim")) text += "(" + std::string(printed(dim)) + ")";
        list.push_back(tree_.text(tree_.keep(text)));
      }
      fields.push_back({"placements", tree_.list(list)});
    }
    if (const NativeValue* shape = topology->find("distribution_shape"))
      fields.push_back({"distribution_shape", plain(*shape)});
  }
  bool any = !fields.empty();
  if (const NativeValue* device = spec.find("device"); !freed && device != nullptr && device->is(Tag::kStruct)) {
    const NativeValue* ids = device->find("device_ids");
    if (device->type == "MeshDevice" || ids != nullptr) {
      any = true;
      if (const NativeValue* shape = device->find("shape")) fields.push_back({"shape", plain(*shape)});
      if (ids != nullptr) fields.push_back({"device_ids", device_ids(*ids)});
    }
  }
  if (any) out = tree_.object(fields);
  return any;
}

Node NativeArguments::device_ids(const NativeValue& ids) {
  return ids.is_list() && !ids.items.empty() ? plain(ids) : ArgumentTree::null();
}

Node NativeArguments::torch_tensor(const NativeValue& spec) {
  Fields fields{{"type", tree_.text("torch.Tensor")}, {"dtype", printed_text(spec.find("dtype"))}};
  if (const NativeValue* shape = spec.find("shape")) fields.push_back({"shape", plain(*shape)});
  for (std::size_t i = 0; i < spec.names.size(); ++i) {  // what the dialect of the call may know: strides, device
    const std::string_view name = spec.names[i];
    if (name != "shape" && name != "dtype" && name != "class")
      fields.push_back({tree_.key(name), plain(*spec.items[i])});
  }
  return tree_.object(fields);
}

Node NativeArguments::memory_config(const NativeValue& config) {
  const NativeValue* shard = config.find("shard_spec");
  const NativeValue* nd_shard = config.find("nd_shard_spec");
  const bool is_shard_spec = shard == nullptr || !shard->is(Tag::kDict);  // else what op JSONL wrote in its place
  Fields fields{{"memory_layout", printed_text(config.find("memory_layout"))},
                {"buffer_type", printed_text(config.find("buffer_type"))},
                {"shard_spec", is_shard_spec ? printed_text(shard) : plain(*shard)},
                {"is_sharded", ArgumentTree::boolean(truth(config.find("is_sharded")))},
                {"interleaved", ArgumentTree::boolean(truth(config.find("interleaved")))}};
  if (const NativeValue* hash = config.find("hash")) fields.push_back({"hash", plain(*hash)});
  const bool only_nd = (shard == nullptr || shard->is_null()) && nd_shard != nullptr && nd_shard->is(Tag::kStruct);
  if (only_nd) fields.push_back({"nd_shard_spec", nd_shard_spec(*nd_shard)});
  return tree_.object(fields);
}

Node NativeArguments::nd_shard_spec(const NativeValue& spec) {
  Fields fields;
  for (std::size_t i = 0; i < spec.names.size(); ++i) {
    const NativeValue& field = *spec.items[i];
    if (spec.names[i] == "grid") {
      const NativeValue* ranges = field.find("ranges");
      std::vector<Node> list;
      for (std::size_t k = 0; ranges != nullptr && k < ranges->items.size(); ++k) {
        Fields ends;
        for (const std::string_view end : {"start", "end"}) {
          const NativeValue* coord = ranges->items[k]->find(end);
          Fields xy;
          for (const std::string_view axis : {"x", "y"}) {
            const NativeValue* at = coord != nullptr ? coord->find(axis) : nullptr;
            xy.push_back({axis, at != nullptr ? plain(*at) : ArgumentTree::null()});
          }
          ends.push_back({end, tree_.object(xy)});
        }
        list.push_back(tree_.object(ends));
      }
      fields.push_back({"grid", tree_.list(list)});
    } else {
      fields.push_back({tree_.key(spec.names[i]), field.is(Tag::kEnum) ? printed_text(&field) : plain(field)});
    }
  }
  return tree_.object(fields);
}

Node NativeArguments::compute_config(const NativeValue& config) {
  Fields fields;
  for (const std::string_view name : {"math_fidelity", "math_approx_mode", "throttle_level"})
    fields.push_back({name, printed_text(config.find(name))});
  for (const std::string_view name : {"fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en"})
    fields.push_back({name, ArgumentTree::boolean(truth(config.find(name)))});
  return tree_.object(fields);
}

// The object's own JSON with its class as `type`. It has numbers where the object has names: those are taken from the
// object.
bool NativeArguments::program_config(const NativeValue& config, Node& out) {
  const NativeValue* own = config.find("@json");
  if (own == nullptr || !own->is(Tag::kString)) return false;
  const auto root = document_.parse(own->text);
  if (!root || !(*root)->is(json::Kind::kObject)) return false;
  // The document is read again for the next object: what is taken from it is kept.
  const auto kept = [this](const auto& self, const Node& node) -> Node {
    Node copied = node;
    copied.text = tree_.keep(node.text);
    if (node.is(json::Kind::kArray)) {
      std::vector<Node> items;
      for (const Node& item : node) items.push_back(self(self, item));
      return tree_.list(items);
    }
    if (node.is(json::Kind::kObject)) {
      Fields fields;
      for (std::uint32_t i = 0; i < node.count; ++i)
        fields.push_back({tree_.keep(node.fields[i].key), self(self, node.fields[i].value)});
      return tree_.object(fields);
    }
    if (node.is(json::Kind::kNumber)) {
      std::string text;
      json::append_python(text, node, {});
      return ArgumentTree::number(tree_.keep(text));
    }
    return node.is(json::Kind::kString) ? tree_.text(copied.text) : copied;
  };
  Fields fields;
  for (std::uint32_t i = 0; i < (*root)->count; ++i) {
    const Field& field = (*root)->fields[i];
    if (field.key == "type") continue;
    const NativeValue* member = config.find(field.key);
    Node value;
    if (member != nullptr && member->is(Tag::kEnum)) {
      value = printed_text(member);
    } else if (member != nullptr && member->find("op_type") != nullptr) {
      // A fused function: a number of the library's enum is no name. Both are kept.
      Fields both;
      for (std::uint32_t k = 0; field.value.is(json::Kind::kObject) && k < field.value.count; ++k)
        both.push_back({tree_.keep(field.value.fields[k].key), kept(kept, field.value.fields[k].value)});
      both.push_back({"@text", printed_text(member)});
      value = tree_.object(both);
    } else {
      value = kept(kept, field.value);
    }
    fields.push_back({tree_.keep(field.key), value});
  }
  fields.push_back({"type", tree_.text(last_part(config.type, "."))});
  out = tree_.object(fields);
  return true;
}

Node NativeArguments::mesh_device(const NativeValue& device) {
  Fields fields{{"type", tree_.text("MeshDevice")}, {"repr", printed_text(&device)}};
  for (const std::string_view name : {"shape", "mesh_shape"}) {  // the second is op JSONL's word
    if (const NativeValue* shape = device.find(name)) fields.push_back({name, plain(*shape)});
  }
  if (const NativeValue* ids = device.find("device_ids")) fields.push_back({"device_ids", device_ids(*ids)});
  return tree_.object(fields);
}

}  // namespace opwright::format

// Tensors of per-op files: their specs, where they lie, what they hold.
#include <charconv>
#include <iterator>

#include "format/per_op/json_shapes.h"
#include "format/per_op/json_values.h"

namespace opwright::format {

using capture::Encoder;
using json::Kind;
using json::Node;

bool JsonValues::put_tensor(const Node& node, Encoder& out) {
  const bool has_mesh = node.find("mesh_device") != nullptr;
  const bool has_values = node.find("values") != nullptr;
  std::vector<std::string_view> keys{"type", "original_shape", "original_dtype"};
  if (has_mesh) keys.push_back("mesh_device");
  keys.insert(keys.end(), {"shape", "dtype"});
  if (has_values) keys.push_back("values");
  keys.insert(keys.end(), {"layout", "storage_type", "memory_config"});
  if (node.count != keys.size()) return false;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    if (node.fields[i].key != keys[i]) return false;
  }
  const Node& shape = *node.find("shape");
  const Node& dtype = *node.find("dtype");
  if (!is_integers(node.find("original_shape")) || !dtype.is(Kind::kString)) return false;
  Hash128 hash;
  if (has_values) {
    if (!content(shape, dtype.text, *node.find("values"), hash)) return false;
  } else if (!same_json(shape, *node.find("original_shape")) || !same_json(dtype, *node.find("original_dtype"))) {
    return false;
  }
  Encoder topology;
  int mesh_fields = 0;
  if (has_mesh && !put_topology(*node.find("mesh_device"), topology, mesh_fields)) return false;
  Encoder spec;
  spec.structure("ttnn.Tensor", 5 + static_cast<std::uint64_t>(mesh_fields));
  spec.field("shape");
  put(*node.find("original_shape"), spec);
  spec.field("dtype");
  if (!put_enum(node.find("original_dtype"), spec)) return false;
  for (const std::string_view name : {"layout", "storage_type"}) {
    spec.field(name);
    if (!put_enum(node.find(name), spec)) return false;
  }
  spec.field("memory_config");
  if (!put_memory(*node.find("memory_config"), spec)) return false;
  spec.raw(topology.view());
  if (has_values) contents_.emplace_back(static_cast<std::uint32_t>(specs_.size()), hash);
  specs_.push_back(writer_.value(spec.view()));
  out.tensor(specs_.back());
  return true;
}

// The fields `topology` and `device` of a tensor.
bool JsonValues::put_topology(const Node& mesh, Encoder& out, int& fields) {
  static constexpr std::string_view kOrder[] = {"placements", "distribution_shape", "shape", "device_ids"};
  if (!mesh.is(Kind::kObject) || mesh.count == 0) return false;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < mesh.count; ++i, ++at) {
    while (at < std::size(kOrder) && kOrder[at] != mesh.fields[i].key) ++at;
    if (at == std::size(kOrder)) return false;
  }
  const Node* placements = mesh.find("placements");
  const Node* distribution = mesh.find("distribution_shape");
  const Node* shape = mesh.find("shape");
  const Node* ids = mesh.find("device_ids");
  if (placements != nullptr || distribution != nullptr) {
    Encoder topology;
    topology.structure("TensorTopology", (placements != nullptr ? 1 : 0) + (distribution != nullptr ? 1 : 0));
    if (placements != nullptr) {
      if (!placements->is(Kind::kArray) || placements->count == 0) return false;
      topology.field("placements");
      topology.list(placements->count);
      for (const Node& placement : *placements) {
        const std::string_view text = placement.is(Kind::kString) ? placement.text : std::string_view();
        const std::size_t open = text.find('(');
        if (!is_word(text.substr(0, open))) return false;
        Encoder value;
        value.structure(text.substr(0, open), open == std::string_view::npos ? 0 : 1);
        if (open != std::string_view::npos) {
          std::int64_t dim = 0;
          const char* end = text.data() + text.size() - 1;
          const auto read = std::from_chars(text.data() + open + 1, end, dim);
          if (text.back() != ')' || read.ec != std::errc() || read.ptr != end) return false;
          value.field("dim");
          value.integer(dim);
        }
        reference(value, topology);
      }
    }
    if (distribution != nullptr) {
      if (!is_integers(distribution)) return false;
      topology.field("distribution_shape");
      put(*distribution, topology);
    }
    out.field("topology");
    reference(topology, out);
    ++fields;
  }
  if (shape == nullptr && ids == nullptr) return true;
  if (!is_integers(shape) || (ids != nullptr && !is_integers(ids) && !ids->is(Kind::kNull))) return false;
  if (ids != nullptr && ids->is(Kind::kArray) && ids->count == 0) return false;
  Encoder device;
  device.structure("MeshDevice", ids != nullptr ? 2 : 1);
  device.field("shape");
  put(*shape, device);
  if (ids != nullptr) {
    device.field("device_ids");
    if (ids->is(Kind::kNull))
      device.list(0);
    else
      put(*ids, device);
  }
  out.field("device");
  reference(device, out);
  ++fields;
  return true;
}

// With element values it stays a dict: they are part of its configuration, as an import of the file has it.
bool JsonValues::put_torch_tensor(const Node& node, Encoder& out) {
  if (!keys_are(node, {"type", "shape", "dtype"})) return false;
  const Node& dtype = node.fields[2].value;
  if (!is_integers(&node.fields[1].value) || !dtype.is(Kind::kString)) return false;
  Encoder spec;
  spec.structure("torch.Tensor", 2);
  spec.field("shape");
  put(node.fields[1].value, spec);
  spec.field("dtype");
  spec.string(dtype.text);
  reference(spec, out);
  return true;
}

}  // namespace opwright::format

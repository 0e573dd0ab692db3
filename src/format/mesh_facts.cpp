#include "format/mesh_facts.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/json_write.h"

namespace opwright::format {
namespace {

using json::Field;
using json::Kind;
using json::Node;

// Machines whose mesh follows from their name, as the existing tracer knows them: series, cards, mesh.
struct KnownMesh {
  std::string_view series, cards, devices, shape;
};
constexpr KnownMesh kKnownMeshes[] = {
    {"tt-galaxy-wh", "32", "32", "[4, 8]"}, {"n300", "1", "2", "[1, 2]"}, {"p150b", "1", "1", "[1, 1]"}};

std::string_view scalar(const Node* machine, std::string_view key) {
  const Node* node = machine != nullptr ? machine->find(key) : nullptr;
  return node != nullptr ? node->text : std::string_view();
}

}  // namespace

std::string python_list(const Node& node) {
  std::string text;
  json::append_python_repr(text, node);
  return text;
}

std::string mesh_shape_of(const Node& mesh_device, const Node* machine) {
  for (const char* key : {"shape", "distribution_shape"}) {
    const Node* shape = mesh_device.find(key);
    if (shape != nullptr && shape->is(Kind::kArray) && shape->count == 2) return python_list(*shape);
  }
  const Node* distribution = mesh_device.find("distribution_shape");
  if (distribution != nullptr && distribution->is(Kind::kArray) && distribution->count == 1) {
    const std::string_view devices = distribution->items[0].text;
    for (const KnownMesh& known : kKnownMeshes) {
      if (devices == known.devices && scalar(machine, "device_series") == known.series &&
          scalar(machine, "card_count") == known.cards)
        return std::string(known.shape);
    }
    return "[1, " + std::string(devices) + "]";
  }
  return "";
}

MeshFacts mesh_facts(const Node& mesh_device, const Node* machine_info) {
  MeshFacts facts;
  facts.known = true;
  facts.mesh_shape = mesh_shape_of(mesh_device, machine_info);
  const Node* ids = mesh_device.find("device_ids");
  if (ids != nullptr && ids->is(Kind::kArray)) {
    facts.device_ids = python_list(*ids);
    facts.device_count = ids->count;
  }
  return facts;
}

std::string merged_machine(const Node* machine_info, const MeshFacts& mesh) {
  std::vector<std::pair<std::string, std::string>> fields;
  const bool has_info = machine_info != nullptr && machine_info->is(Kind::kObject);
  if (has_info) {
    for (const Field* field : json::sorted_fields(*machine_info)) {
      std::string text;
      json::append_python(text, field->value, {.sort_keys = true});
      fields.emplace_back(field->key, std::move(text));
    }
  }
  const auto set = [&](const std::string& name, const std::string& text) {
    if (text.empty()) return;
    for (auto& [key, value] : fields) {
      if (key == name) {
        value = text;
        return;
      }
    }
    fields.emplace_back(name, text);
  };
  if (mesh.known) {
    set("device_ids", mesh.device_ids);
    if (mesh.device_count > 0) set("device_count", std::to_string(mesh.device_count));
    set("mesh_device_shape", mesh.mesh_shape);
  }
  if (fields.empty()) return "";
  std::sort(fields.begin(), fields.end());
  JsonObject object;
  for (const auto& [name, value] : fields) object.add_raw(name, value);
  return object.text();
}

}  // namespace opwright::format

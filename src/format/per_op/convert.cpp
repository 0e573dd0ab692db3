#include "format/per_op/convert.h"

#include <algorithm>
#include <vector>

#include "base/json_object.h"
#include "base/json_write.h"
#include "format/lift.h"
#include "format/lift_memory.h"
#include "model/op_config.h"

namespace opwright::format {
namespace {

using json::Field;
using json::Kind;
using json::Node;

std::string python_list(const Node& node) {  // str(list) of Python
  std::string text;
  json::append_python_repr(text, node);
  return text;
}

bool same_json(const Node& a, const Node& b) {
  std::string left, right;
  json::append_python(left, a, {.sort_keys = true});
  json::append_python(right, b, {.sort_keys = true});
  return left == right;
}

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

// The mesh a tensor lies on: its own two-dimensional shape, else what its distribution and the machine imply.
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

class Converter {
 public:
  Converter(const Node* machine, ConvertedRecord& converted) : machine_(machine), converted_(converted) {}

  void append(std::string& out, const Node& node) {
    switch (node.kind) {
      case Kind::kNull:
        out += "null";
        return;
      case Kind::kBool:
        out += node.text;
        return;
      case Kind::kNumber:
        append_number(out, node.text);
        return;
      case Kind::kString:
        if (node.text.find(" at 0x") == std::string_view::npos)
          json::append_quoted(out, node.text);
        else
          json::append_quoted(out, without_addresses(node.text));
        return;
      case Kind::kArray:
        out += '[';
        for (std::uint32_t i = 0; i < node.count; ++i) {
          if (i > 0) out += ',';
          append(out, node.items[i]);
        }
        out += ']';
        return;
      case Kind::kObject:
        append_object(out, node);
        return;
    }
  }

 private:
  static void append_number(std::string& out, std::string_view token) {
    if (token == "Infinity")
      out += "\"inf\"";
    else if (token == "-Infinity")
      out += "\"-inf\"";
    else if (token == "NaN")
      out += "\"nan\"";
    else
      out += token;
  }

  void append_object(std::string& out, const Node& object) {
    const Node* mesh = object.find("mesh_device");
    if (mesh != nullptr && !mesh->is(Kind::kObject)) mesh = nullptr;
    const Node* placements = mesh != nullptr ? mesh->find("placements") : nullptr;
    const bool has_values = object.find("values") != nullptr && object.find("original_shape") != nullptr;
    if (has_values) ++converted_.tensors_with_values;
    if (mesh != nullptr) remember(*mesh);

    out += '{';
    bool first = true;
    const auto key = [&](std::string_view name) {
      if (!first) out += ',';
      first = false;
      json::append_quoted(out, name);
      out += ':';
    };
    bool placement_written = placements == nullptr;
    const auto write_placement = [&] {
      placement_written = true;
      key("tensor_placement");
      out += '{';
      const Node* distribution = mesh->find("distribution_shape");
      out += "\"distribution_shape\":";
      json::append_quoted(out, distribution != nullptr ? python_list(*distribution) : "None");
      out += ",\"mesh_device_shape\":";
      const std::string shape = mesh_shape_of(*mesh, machine_);
      json::append_quoted(out, shape.empty() ? "None" : shape);
      out += ",\"placement\":";
      json::append_quoted(out, python_list(*placements));
      out += '}';
    };
    for (const Field* field : json::sorted_fields(object)) {
      if (!placement_written && field->key > "tensor_placement") write_placement();
      if (field->key == "mesh_device" && mesh != nullptr) continue;
      if (field->key == "values" && has_values) continue;
      if ((field->key == "shape" || field->key == "dtype") && drops(object, *field, has_values)) continue;
      key(field->key);
      if (field->key == "shard_spec")
        append_shard_spec(out, field->value);
      else
        append(out, field->value);
    }
    if (!placement_written) write_placement();
    out += '}';
  }

  // shape and dtype repeat original_shape and original_dtype; with values they describe the copy on the host.
  static bool drops(const Node& object, const Field& field, bool has_values) {
    const Node* original = object.find(field.key == "shape" ? "original_shape" : "original_dtype");
    return original != nullptr && (has_values || same_json(*original, field.value));
  }

  void append_shard_spec(std::string& out, const Node& value) {
    if (!value.is(Kind::kString)) {
      append(out, value);
      return;
    }
    if (value.text == "None") {
      out += "null";
      return;
    }
    LiftNotes notes;
    Fields fields;
    fields.emplace_back("shard_spec", Value(std::string(value.text)));
    const MemoryConfig config = read_memory(fields, notes);
    if (!config.shard || !config.shard->more.empty() || !config.shard->orientation.present()) {
      append(out, value);  // not understood: the text stays as it is
      return;
    }
    const ShardSpec& spec = *config.shard;
    out += "{\"grid\":[";
    for (std::size_t i = 0; i < spec.grid.size(); ++i) {
      const CoreRange& range = spec.grid[i];
      if (i > 0) out += ',';
      out += "{\"end\":{\"x\":" + std::to_string(range.end.x) + ",\"y\":" + std::to_string(range.end.y) +
             "},\"start\":{\"x\":" + std::to_string(range.start.x) + ",\"y\":" + std::to_string(range.start.y) + "}}";
    }
    out += "],\"orientation\":";
    json::append_quoted(out, spec.orientation.name());
    out += ",\"shape\":" + to_text(spec.shape) + "}";
  }

  void remember(const Node& mesh) {
    MeshFacts& facts = converted_.mesh;
    if (facts.known) return;
    facts.known = true;
    facts.mesh_shape = mesh_shape_of(mesh, machine_);
    const Node* ids = mesh.find("device_ids");
    if (ids != nullptr && ids->is(Kind::kArray)) {
      facts.device_ids = python_list(*ids);
      facts.device_count = ids->count;
    }
  }

  const Node* machine_;
  ConvertedRecord& converted_;
};

}  // namespace

std::string convert_record(const Node& record, const Node* machine_info, ConvertedRecord& converted) {
  const Node* args = record.find("args");
  const Node* kwargs = record.find("kwargs");
  if (args == nullptr || !args->is(Kind::kArray)) return "'args' is not an array";
  if (kwargs != nullptr && !kwargs->is(Kind::kObject) && !kwargs->is(Kind::kNull)) return "'kwargs' is not an object";
  Converter converter(machine_info, converted);
  std::vector<std::pair<std::string, const Node*>> entries;
  for (std::uint32_t i = 0; i < args->count; ++i) {
    const Node& item = args->items[i];
    const Node* value = item.find("value");
    const Node* position = item.find("position");
    if (value == nullptr) return "an entry of 'args' has no value";
    entries.emplace_back("arg" + (position != nullptr ? std::string(position->text) : std::to_string(i)), value);
  }
  // Positions first: the mesh of a record is that of its first tensor in call order.
  std::vector<std::pair<std::string, std::string>> written;
  const auto write = [&](std::string name, const Node& value) {
    std::string text;
    converter.append(text, value);
    written.emplace_back(std::move(name), std::move(text));
  };
  for (auto& [name, value] : entries) write(std::move(name), *value);
  if (kwargs != nullptr && kwargs->is(Kind::kObject)) {
    for (std::uint32_t i = 0; i < kwargs->count; ++i) {
      if (is_handle_argument(kwargs->fields[i].key))
        ++converted.handles;
      else
        write(std::string(kwargs->fields[i].key), kwargs->fields[i].value);
    }
  }
  std::sort(written.begin(), written.end());
  const auto twice = std::adjacent_find(written.begin(), written.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != written.end()) return "argument " + twice->first + " is given twice";
  converted.arguments = "{";
  for (const auto& [name, text] : written) {
    if (converted.arguments.size() > 1) converted.arguments += ',';
    json::append_quoted(converted.arguments, name);
    converted.arguments += ':';
    converted.arguments += text;
  }
  converted.arguments += '}';
  return "";
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

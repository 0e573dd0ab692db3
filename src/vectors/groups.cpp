#include "vectors/groups.h"

#include <fmt/format.h>

#include <array>

#include "base/file_name.h"
#include "base/json.h"
#include "normalize/provenance_names.h"

namespace opwright::vectors {
namespace {

constexpr std::array<std::string_view, 3> kNames{"none", "mesh", "hw"};

// A word of a file's name: lower case, everything but letters and digits as '_'.
std::string token(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    out += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '_';
  }
  return file_name_part(out, 40);
}

std::string mesh_text(std::int64_t rows, std::int64_t columns) { return fmt::format("{}x{}", rows, columns); }

// [1, 2] or its text "[1, 2]" -> "1x2"
std::string mesh_of(const json::Node* shape) {
  if (shape == nullptr) return "";
  if (shape->is(json::Kind::kString)) {
    json::Document document;
    const auto inner = document.parse(shape->text);
    return inner && (*inner)->is(json::Kind::kArray) ? mesh_of(*inner) : "";
  }
  if (!shape->is(json::Kind::kArray) || shape->count != 2) return "";
  const auto rows = shape->items[0].as_int64();
  const auto columns = shape->items[1].as_int64();
  return rows && columns && *rows > 0 && *columns > 0 ? mesh_text(*rows, *columns) : "";
}

// The first element of a list, as the existing tooling takes it.
const json::Node* first_of(const json::Node* node) {
  if (node == nullptr || !node->is(json::Kind::kArray)) return node;
  return node->count > 0 ? node->items : nullptr;
}

std::string text_of(const json::Node* node) {
  return node != nullptr && node->is(json::Kind::kString) ? std::string(node->text) : "";
}

}  // namespace

std::string_view name_of(GroupBy group) { return kNames[static_cast<std::size_t>(group)]; }

std::optional<GroupBy> parse_group_by(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<GroupBy>(i);
  return std::nullopt;
}

MachineFacts read_machine(std::string_view machine_info) {
  MachineFacts facts;
  if (machine_info.empty()) return facts;
  json::Document document;
  const auto root = document.parse(machine_info);
  const json::Node* machine = root ? first_of(*root) : nullptr;
  if (machine == nullptr || !machine->is(json::Kind::kObject)) return facts;
  facts.label = normalize::name_machine(machine_info);
  if (facts.label == "unknown") facts.label.clear();
  facts.mesh = mesh_of(machine->find("mesh_device_shape"));
  if (facts.mesh.empty()) {
    const json::Node* placement = first_of(machine->find("tensor_placements"));
    if (placement != nullptr && placement->is(json::Kind::kObject))
      facts.mesh = mesh_of(placement->find("mesh_device_shape"));
  }
  const std::string board = text_of(machine->find("board_type"));
  const std::string series = text_of(first_of(machine->find("device_series")));
  const json::Node* cards = machine->find("card_count");
  if (!board.empty() || !series.empty())
    facts.hardware =
        fmt::format("hw_{}_{}_{}c", token(board), token(series), cards != nullptr ? cards->as_int64().value_or(1) : 1);
  return facts;
}

const MachineFacts& Machines::of(const std::string& machine_info) {
  const auto known = known_.find(machine_info);
  return known != known_.end() ? known->second : known_.emplace(machine_info, read_machine(machine_info)).first->second;
}

std::string placement_mesh(const OpConfig& config) {
  std::string mesh;
  for (const Argument& argument : config.args) {
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (mesh.empty() && spec.placement && spec.placement->mesh.size() == 2)
        mesh = mesh_text(spec.placement->mesh[0], spec.placement->mesh[1]);
    });
  }
  return mesh;
}

std::string group_suffix(GroupBy group, const MachineFacts& machine, std::string_view mesh) {
  std::string suffix;
  if (group == GroupBy::kNone) return suffix;
  if (group == GroupBy::kHardware) suffix = machine.hardware;
  if (!mesh.empty()) suffix += fmt::format("{}mesh_{}", suffix.empty() ? "" : ".", mesh);
  return suffix;
}

}  // namespace opwright::vectors

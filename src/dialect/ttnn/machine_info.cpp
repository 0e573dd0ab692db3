#include "dialect/ttnn/machine_info.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_object.h"
#include "base/json_write.h"
#include "dialect/ttnn/board.h"

namespace opwright {
namespace {

using Fields = std::map<std::string, std::string>;  // name -> JSON; sorted, as machine texts are

// What the existing tooling records of a board: what tt-smi calls it, and how many of it it lists. A card with two
// chips is two for p300a and one for n300, whose second chip is listed under another name.
struct Listed {
  std::string_view board, series;
  int cards;
};
constexpr std::array kListed{Listed{"n150", "n150", 1},
                             Listed{"n300", "n300", 1},
                             Listed{"t3k", "n300", 4},
                             Listed{"p100a", "p100a", 1},
                             Listed{"galaxy", "tt-galaxy-wh", 32},
                             Listed{"p150b", "p150b", 1},
                             Listed{"p300a", "p300a", 2}};

// What the library calls a board whose name says all: the others are several boards (P150 is a p150a, b or c).
struct ClusterType {
  std::string_view name, board;
};
constexpr std::array kClusterTypes{ClusterType{"N150", "n150"}, ClusterType{"N300", "n300"}, ClusterType{"T3K", "t3k"},
                                   ClusterType{"GALAXY", "galaxy"}};

std::string_view board_type_of(Arch arch) { return arch == Arch::kWormhole ? "Wormhole" : "Blackhole"; }

std::string_view text_field(const json::Node& machine, std::string_view key) {
  return machine.string_field(key).value_or(std::string_view());
}

std::optional<Board> board_of(const json::Node& machine) {
  if (const std::string_view mock = text_field(machine, "mock_board"); !mock.empty()) {
    if (const auto board = find_board(mock)) return *board;
  }
  const std::string_view cluster = text_field(machine, "cluster_type");
  for (const ClusterType& type : kClusterTypes) {
    if (cluster == type.name) return *find_board(type.board);
  }
  return std::nullopt;
}

// What follows from the names in `machine`.
Fields implied_by(const json::Node& machine) {
  Fields implied;
  if (const auto board = board_of(machine)) {
    implied["board_type"] = json_string(board_type_of(board->arch));
    for (const Listed& listed : kListed) {
      if (listed.board != board->name) continue;
      implied["device_series"] = json_string(listed.series);
      implied["card_count"] = std::to_string(listed.cards);
    }
    // The mesh of a call says how many devices it is; without one it is the whole board.
    if (machine.find("device_ids") == nullptr && machine.find("mesh_device_shape") == nullptr)
      implied["device_count"] = std::to_string(board->chips());
    return implied;
  }
  const std::string_view arch = text_field(machine, "arch");
  for (const Arch known : {Arch::kWormhole, Arch::kBlackhole}) {
    if (arch == name_of(known)) implied["board_type"] = json_string(board_type_of(known));
  }
  return implied;
}

bool may_name_a_board(std::string_view text) {
  for (const std::string_view key : {"\"mock_board\"", "\"cluster_type\"", "\"arch\""}) {
    if (text.find(key) != std::string_view::npos) return true;
  }
  return false;
}

std::string to_text(const Fields& fields) {
  JsonObject object;
  for (const auto& [name, value] : fields) object.add_raw(name, value);
  return object.text();
}

template <class Change>
std::string changed(std::string_view machine_json, Change&& change) {
  if (!may_name_a_board(machine_json)) return std::string(machine_json);
  json::Document document;
  const auto root = document.parse(machine_json);
  if (!root || !(*root)->is(json::Kind::kObject)) return std::string(machine_json);
  const Fields implied = implied_by(**root);
  if (implied.empty()) return std::string(machine_json);
  Fields fields;
  for (std::uint32_t i = 0; i < (*root)->count; ++i) {
    std::string value;
    json::append_python(value, (*root)->fields[i].value, {.sort_keys = true});
    fields[std::string((*root)->fields[i].key)] = std::move(value);
  }
  change(fields, implied);
  return to_text(fields);
}

}  // namespace

std::string whole_machine(std::string_view machine_json) {
  return changed(machine_json, [](Fields& fields, const Fields& implied) {
    for (const auto& [name, value] : implied) fields.try_emplace(name, value);
  });
}

std::string short_machine(std::string_view machine_json) {
  return changed(machine_json, [](Fields& fields, const Fields& implied) {
    for (const auto& [name, value] : implied) {
      if (const auto known = fields.find(name); known != fields.end() && known->second == value) fields.erase(known);
    }
  });
}

}  // namespace opwright

// Which mesh of devices and which hardware a trace ran on, as the names of vector files tell it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/op_config.h"

namespace opwright::vectors {

enum class GroupBy : std::uint8_t { kNone, kMesh, kHardware };
std::string_view name_of(GroupBy group);  // "none", "mesh", "hw"
std::optional<GroupBy> parse_group_by(std::string_view name);

// What a machine_info (JSON; one object, or an array of which the first counts) says.
struct MachineFacts {
  std::string mesh;      // "1x2"; "" it does not say
  std::string hardware;  // "hw_wormhole_n300_1c"; "" it does not say
  std::string label;     // "Wormhole n300 x1"; "" unknown
};
MachineFacts read_machine(std::string_view machine_info);

// The same, remembered: a store has few machines and many configurations.
class Machines {
 public:
  const MachineFacts& of(const std::string& machine_info);

 private:
  std::map<std::string, MachineFacts, std::less<>> known_;
};

// "4x8": the mesh of the first tensor that names its placement; "" none does.
std::string placement_mesh(const OpConfig& config);
// "mesh_1x2", "hw_wormhole_n300_1c.mesh_1x2"; "" where nothing is known or nothing is grouped.
std::string group_suffix(GroupBy group, const MachineFacts& machine, std::string_view mesh);

}  // namespace opwright::vectors

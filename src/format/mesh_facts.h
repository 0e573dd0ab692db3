// The mesh of devices that the tensors of a call lie on, as the existing tracer knows it: it merges this into the
// machine_info of a configuration.
#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"

namespace opwright::format {

struct MeshFacts {
  bool known = false;
  std::string device_ids;  // "[0, 1]" or ""
  std::string mesh_shape;  // "[1, 2]" or ""
  std::size_t device_count = 0;
};

// `mesh_device` of a per-op record: {"placements", "distribution_shape", "shape", "device_ids"}; `machine_info` of the
// run may be null.
MeshFacts mesh_facts(const json::Node& mesh_device, const json::Node* machine_info);
// The mesh a tensor lies on: its own two-dimensional shape, else what its distribution and the machine imply; ""
// unknown.
std::string mesh_shape_of(const json::Node& mesh_device, const json::Node* machine_info);

// str(list) of Python.
std::string python_list(const json::Node& node);

// machine_info of the run with the mesh merged in; "" when neither says anything.
std::string merged_machine(const json::Node* machine_info, const MeshFacts& mesh);

}  // namespace opwright::format

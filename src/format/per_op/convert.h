// One per-op record as the `arguments` object of an era-2 master, in the form that the existing tracer gives it, so
// that a folder and the master made from it hold the same configurations with the same hashes.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace opwright::format {

// What the tensors of a record say about the mesh they were on; the existing tracer merges it into machine_info.
struct MeshFacts {
  bool known = false;
  std::string device_ids;  // "[0, 1]" or ""
  std::string mesh_shape;  // "[1, 2]" or ""
  std::size_t device_count = 0;
};

struct ConvertedRecord {
  std::string arguments;  // JSON object, keys sorted
  MeshFacts mesh;
  std::size_t handles = 0;              // keyword arguments left out (is_handle_argument)
  std::size_t tensors_with_values = 0;  // element values are not part of a configuration
};

// `record` has "args" and "kwargs"; `machine_info` of the run may be null. Returns an empty string, or what is wrong.
std::string convert_record(const json::Node& record, const json::Node* machine_info, ConvertedRecord& converted);

// machine_info of the run with the record's mesh merged in; "" when neither says anything.
std::string merged_machine(const json::Node* machine_info, const MeshFacts& mesh);

}  // namespace opwright::format

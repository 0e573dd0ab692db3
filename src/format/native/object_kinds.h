// What the library's own tracer knows values by: its rules about classes, truth and keys, for whoever writes as it
// does.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "format/native/value_table.h"

namespace opwright::format {

inline bool is_compute_config(std::string_view type) {
  return type == "WormholeComputeKernelConfig" || type == "BlackholeComputeKernelConfig" ||
         type == "DeviceComputeKernelConfig";
}

inline bool is_matmul_config(std::string_view type) {
  return type.find("ProgramConfig") != std::string_view::npos && type.find("Matmul") != std::string_view::npos;
}

inline bool truth(const NativeValue* value) {  // bool(value)
  if (value == nullptr || value->is_null() || value->is(capture::Tag::kFalse)) return false;
  if (value->is(capture::Tag::kInt)) return value->number != 0;
  return true;
}

// The library takes the queue of a call away before it writes the call down: the keyword that names it, or "".
inline std::string_view queue_keyword(const NativeValue& call) {
  for (const std::string_view name : {"queue_id", "cq_id"}) {
    if (std::find(call.names.begin(), call.names.end(), name) != call.names.end()) return name;
  }
  return {};
}

// A key of a dict as json.dump turns it into text.
std::string key_text(const NativeValue& key);

}  // namespace opwright::format

// Was that which was executed the configuration that was traced? Field by field, without believing the binder.
//
// The traced configuration is taken as the store has it; only its argument names are brought to the operator's (arg0
// and C++ positions). What was executed comes from the device's side: `recapture` for the devices in this process, the
// tracing hook for the real library. Every traced argument must be found on the executed side with the same fields, and
// the executed side must have no argument that the trace does not know. So an argument that was dropped on the way,
// taken for another value or assumed is seen, whoever lost it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/bound_call.h"
#include "model/host_tensor.h"
#include "model/op_config.h"

namespace opwright {

struct Proof {
  std::int64_t fields = 0;               // of the traced configuration; None and not passed are the same
  std::int64_t equal = 0;                // … that the executed one has too
  std::vector<std::string> differences;  // "input_tensor.dtype: BFLOAT16 -> BFLOAT8_B"; any of them costs the pass
  // Handles and hints for speed (Lost::kNoMatter) that only one side has: no value and no spec depends on them.
  std::vector<std::string> not_needed;
  // What the executed tensors say and the trace does not (era-1 traces have no storage and no layout): no
  // contradiction.
  std::vector<std::string> unsaid;

  bool proven() const { return differences.empty(); }
};

Proof compare_executed(const OpConfig& traced, const OpConfig& executed);

// What a device in this process executed: the arguments that its kernel was called with and the specs of the tensors
// that it received, one for each of call.tensors.
OpConfig recapture(const BoundCall& call, std::span<const HostTensor> inputs);

}  // namespace opwright

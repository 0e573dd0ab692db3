// Values of the table in the hands of a device or a reference: expanded for one call, gone after it.
#pragma once

#include <vector>

#include "model/bound_call.h"
#include "model/host_tensor.h"
#include "replay/live_tensors.h"

namespace opwright::replay {

enum class Whose : bool {
  kDevice,  // what the device has
  kChain,   // what a chain of references from the start has
};

// A tensor for each of call.tensors. Of a large table of which the call reads some rows, the others are zero, and take
// no memory.
std::vector<HostTensor> lend(const BoundCall& call, const std::vector<const Content*>& contents, Whose whose);

}  // namespace opwright::replay

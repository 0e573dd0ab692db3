// Room for the tensors of a call, as the library's allocator would give it.
#pragma once

#include <span>

#include "device/device.h"
#include "device/sim/memory/allocator.h"

namespace opwright::sim {

// Places every device tensor of the call, then its outputs that are new; refuses in the library's words when L1 or
// DRAM has no room. An output is not new when it is a tensor of the call: OutputSpec::alias says so, or the caller
// passed the tensor to write to.
Checked<MemoryReport> allocate_call(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);

}  // namespace opwright::sim

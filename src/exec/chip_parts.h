// The parts of the other chips in an exchange, on a device that has one chip: they stand behind the part that is there
// (dialect/ttnn/collective_calls.h).
#pragma once

#include "model/host_tensor.h"
#include "ops/collectives.h"

namespace opwright {

// Where every chip holds the same, they are copies; else those of chip k are this chip's rows, moved on by k: numbers
// of the same kind in other places, so that a part taken for another one, or left out, is seen.
void add_parts(const Exchange& exchange, HostTensor& part);

}  // namespace opwright

// Heads cut out of rows and put together again: plain copies.
#pragma once

#include <cstdint>
#include <functional>

#include "device/sim/kernel.h"

namespace opwright::sim {

// A new tensor whose rows are `copy`d one by one: copy(row, to) fills `to`, zero until then.
HostTensor copied_rows(const OutputSpec& output, const std::function<void(std::int64_t row, float* to)>& copy);

}  // namespace opwright::sim

#include "device/sim/kernel.h"

#include <algorithm>
#include <limits>

namespace opwright::sim {

bool KernelJob::wanted(std::size_t output, std::int64_t first, std::int64_t count) const {
  if (output >= rows.size() || rows[output].empty()) return true;
  const auto next = std::ranges::lower_bound(rows[output], first);
  return next != rows[output].end() && *next < first + count;
}

HostTensor unwritten(const OutputSpec& output) {
  constexpr std::int64_t kNoNumber = 0x5A5A5A5A;
  HostTensor tensor{output.spec, {}, {}};
  const auto size = static_cast<std::size_t>(tensor.size());
  if (tensor.integer())
    tensor.ints.assign(size, kNoNumber);
  else
    tensor.floats.assign(size, std::numeric_limits<float>::quiet_NaN());
  return tensor;
}

const HostTensor* KernelJob::input(std::string_view param, std::size_t item) const {
  const auto slot = call.slot(param, item);
  return slot ? &inputs[*slot] : nullptr;
}

}  // namespace opwright::sim

#include "device/sim/kernel.h"

#include <algorithm>

namespace opwright::sim {

bool KernelJob::wanted(std::size_t output, std::int64_t first, std::int64_t count) const {
  if (output >= rows.size() || rows[output].empty()) return true;
  const auto next = std::ranges::lower_bound(rows[output], first);
  return next != rows[output].end() && *next < first + count;
}

const HostTensor* KernelJob::input(std::string_view param, std::size_t item) const {
  const auto slot = call.slot(param, item);
  return slot ? &inputs[*slot] : nullptr;
}

}  // namespace opwright::sim

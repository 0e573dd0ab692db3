#include "device/sim/heads.h"

#include "base/parallel.h"

namespace opwright::sim {

HostTensor copied_rows(const OutputSpec& output, const std::function<void(std::int64_t row, float* to)>& copy) {
  HostTensor out = unwritten(output);
  const std::int64_t width = row_length(out.spec.shape);
  if (out.floats.empty()) return out;
  parallel_for(0, out.size() / width, 512, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) copy(row, out.floats.data() + row * width);
  });
  return out;
}

}  // namespace opwright::sim

#include <vector>

#include "base/parallel.h"
#include "device/sim/kernel.h"

namespace opwright::sim {
namespace {

template <class T>
void find_largest(const std::vector<T>& from, std::int64_t count, std::int64_t inner, std::vector<std::int64_t>& to) {
  parallel_for(0, static_cast<std::int64_t>(to.size()), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t base = line / inner * inner * count + line % inner;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < count; ++k)
        if (from[static_cast<std::size_t>(base + k * inner)] > from[static_cast<std::size_t>(base + best * inner)])
          best = k;
      to[static_cast<std::size_t>(line)] = best;
    }
  });
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const auto dim, job.call.integer("dim"));
  std::int64_t count = input.size();
  std::int64_t inner = 1;
  if (dim && !shape.empty()) {
    const auto at = static_cast<std::size_t>(*dim < 0 ? *dim + static_cast<std::int64_t>(shape.size()) : *dim);
    count = shape[at];
    for (std::size_t i = at + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  HostTensor out{job.outputs[0].spec, {}, {}};
  out.ints.resize(static_cast<std::size_t>(out.size()));
  if (input.integer())
    find_largest(input.ints, count, inner, out.ints);
  else
    find_largest(input.floats, count, inner, out.ints);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kArgmaxKernel{.op = "ttnn.argmax", .run = run};

}  // namespace opwright::sim

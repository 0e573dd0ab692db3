#include <algorithm>
#include <vector>

#include "device/sim/reduce_tensor.h"

namespace opwright::sim {
namespace {

// Padding is reduced with the rest and comes out as zeros.
void place(const std::vector<float>& from, std::int64_t height, std::int64_t width, HostTensor& out) {
  const Shape& shape = out.spec.shape;
  const std::int64_t columns = shape.back();
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t matrices = height * width == 0 ? 0 : static_cast<std::int64_t>(from.size()) / (height * width);
  out.floats.assign(static_cast<std::size_t>(out.size()), 0.0F);
  for (std::int64_t m = 0; m < matrices; ++m)
    for (std::int64_t r = 0; r < height; ++r)
      std::copy_n(from.begin() + (m * height + r) * width, width, out.floats.begin() + (m * rows + r) * columns);
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input");
  OPWRIGHT_CHECK_ASSIGN(const auto named, job.call.ints("dims"));
  const ComputeConfig defaults{.fidelity = Fidelity::kHiFi4, .fp32_acc = true};
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(job.call, defaults));
  std::vector<std::size_t> dims;
  if (named)
    for (const std::int64_t dim : *named) dims.push_back(static_cast<std::size_t>(dim));
  std::ranges::sort(dims);
  dims.erase(std::ranges::unique(dims).begin(), dims.end());
  OutputSpec bare = job.outputs[0];
  bare.spec.shape = input.spec.shape;
  for (const std::size_t dim : dims) bare.spec.shape[dim] = 1;
  const HostTensor sums = reduce_tensor(input, dims, *find_reduction("sum"), 1.0, engine_mode(config), bare);
  HostTensor out{job.outputs[0].spec, {}, {}};
  const Shape& shape = input.spec.shape;
  place(sums.floats, shape[shape.size() - 2], shape.back(), out);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kFastReduceNcKernel{.op = "ttnn.experimental.fast_reduce_nc", .run = run};

}  // namespace opwright::sim

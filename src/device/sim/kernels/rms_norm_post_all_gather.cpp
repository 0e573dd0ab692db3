#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;
constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<void> admit(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  static constexpr std::string_view kParams[] = {"stats", "weight", "bias"};
  return admit_floats(call, kParams);
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  RowNorm norm;
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  norm.epsilon = static_cast<float>(epsilon);
  OPWRIGHT_CHECK_ASSIGN(norm.config, compute_argument(job.call, kDefaults));
  norm.input = job.input("input_tensor");
  norm.weight = job.input("weight");
  norm.bias = job.input("bias");
  const HostTensor& stats = *job.input("stats");
  const EngineMode mode = engine_mode(norm.config);
  HostTensor out = unwritten(job.outputs[0]);
  const std::int64_t width = row_length(out.spec.shape);
  const std::int64_t columns = row_length(stats.spec.shape);
  const std::int64_t rows = width == 0 ? 0 : out.size() / width;
  // Each device has left one tile of statistics: sums of squares, or their means when sharded.
  const auto devices = static_cast<float>(std::max<std::int64_t>(div_up(columns, kTile), 1));
  const float terms = sharded(norm.input->spec) ? devices : devices * static_cast<float>(width);
  const float scaler = round_to_dst(1.0F / terms, Dst::kBf16);
  parallel_for(0, rows, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const auto at = static_cast<std::size_t>(r * width);
      const std::span<float> row(out.floats.data() + at, static_cast<std::size_t>(width));
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = engine::source(norm.input->floats[at + i]);
      const std::span<const float> own(stats.floats.data() + r * columns, static_cast<std::size_t>(columns));
      scale_row(row, fpu_row_sum(own, scaler, mode), norm);
      pack(row, width, out.spec.dtype.value, mode.dst);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kRmsNormPostAllGatherKernel{.op = "ttnn.rms_norm_post_all_gather", .admit = admit, .run = run};

}  // namespace opwright::sim

#include <vector>

#include "base/parallel.h"
#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<void> admit(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  static constexpr std::string_view kParams[] = {"residual_input_tensor"};
  return admit_floats(call, kParams);
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* residual = job.input("residual_input_tensor");
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(job.call, kDefaults));
  const EngineMode mode = engine_mode(config);
  HostTensor out{job.outputs[0].spec, {}, {}};
  out.floats.assign(static_cast<std::size_t>(out.size()), 0.0F);
  const std::int64_t width = row_length(input.spec.shape);
  const std::int64_t columns = row_length(out.spec.shape);
  const std::int64_t rows = width == 0 ? 0 : input.size() / width;
  // Cores of a sharded tensor exchange the mean.
  const float scaler = sharded(input.spec) ? round_to_dst(1.0F / static_cast<float>(width), Dst::kBf16) : 1.0F;
  parallel_for(0, rows, 16, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> row(static_cast<std::size_t>(width));
    std::vector<float> squares;
    for (std::int64_t r = first; r < last; ++r) {
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(r * width + i);
        float& value = row[static_cast<std::size_t>(i)];
        value = engine::source(input.floats[at]);
        if (residual != nullptr) value = engine::source(fpu_add(value, engine::source(residual->floats[at]), mode.dst));
      }
      out.floats[static_cast<std::size_t>(r * columns)] = sum_of_squares(row, scaler, mode, squares);
    }
  });
  pack(out.floats, columns, out.spec.dtype.value, mode.dst);
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kRmsNormPreAllGatherKernel{.op = "ttnn.rms_norm_pre_all_gather", .admit = admit, .run = run};

}  // namespace opwright::sim

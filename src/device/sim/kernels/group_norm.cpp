#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "device/sim/norm_rows.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;
constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

// One group of one image: its rows lie `stride` apart.
struct Group {
  std::vector<float>* data = nullptr;
  std::int64_t start = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t stride = 0;
  std::int64_t rows_per_core = 0;

  float* row(std::int64_t r) const { return data->data() + start + r * stride; }
};

// The mean of all values of the group: every core adds its tiles one after the other, then one adds up the cores.
float group_mean(const Group& group, EngineMode mode, bool squares) {
  const float scaler = round_to_dst(1.0F / static_cast<float>(group.rows * group.width), Dst::kBf16);
  std::vector<float> tile(static_cast<std::size_t>(kTile * kTile));
  std::vector<float> columns(static_cast<std::size_t>(kTile));
  float mean = 0;
  for (std::int64_t core = 0; core < group.rows; core += group.rows_per_core) {
    const std::int64_t end = std::min(group.rows, core + group.rows_per_core);
    float held = 0;
    for (std::int64_t r = core; r < end; r += kTile) {
      const std::int64_t height = std::min(kTile, end - r);
      for (std::int64_t c = 0; c < group.width; c += kTile) {
        const std::int64_t width = std::min(kTile, group.width - c);
        for (std::int64_t y = 0; y < height; ++y)
          for (std::int64_t x = 0; x < width; ++x) {
            const float value = engine::source(group.row(r + y)[c + x]);
            tile[static_cast<std::size_t>(y * kTile + x)] = squares ? fpu_mul(value, value, mode) : value;
          }
        const std::span<float> sums(columns.data(), static_cast<std::size_t>(width));
        fpu_column_sums(tile.data(), height, kTile, 1.0F, mode, sums);
        held = fpu_add(held, engine::source(fpu_row_sum(sums, 1.0F, mode)), mode.dst);
      }
    }
    const float partial[] = {held};
    mean = fpu_row_sum(partial, scaler, mode, mean);
  }
  return mean;
}

void normalize(const Group& group, float epsilon, const ComputeConfig& config) {
  const EngineMode mode = engine_mode(config);
  const float mean = -engine::source(group_mean(group, mode, false));
  for (std::int64_t r = 0; r < group.rows; ++r)
    for (std::int64_t i = 0; i < group.width; ++i) {
      float& value = group.row(r)[i];
      value = engine::source(fpu_add(engine::source(value), mean, mode.dst));
    }
  const float variance = engine::source(group_mean(group, mode, true));
  const float moved = fpu_add(variance, round_to_dst(epsilon, Dst::kBf16), mode.dst);
  const float scale = engine::source(norm_rsqrt(moved, true, config));
  for (std::int64_t r = 0; r < group.rows; ++r)
    for (std::int64_t i = 0; i < group.width; ++i) {
      float& value = group.row(r)[i];
      value = fpu_mul(value, scale, mode);
    }
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* weight = job.input("weight");
  const HostTensor* bias = job.input("bias");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t groups, job.call.integer("num_groups", 1));
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  OPWRIGHT_CHECK_ASSIGN(const bool welford, job.call.flag("use_welford", false));
  ComputeConfig defaults = kDefaults;
  defaults.fp32_acc = welford || input.spec.dtype.value == DType::kFloat32;
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(job.call, defaults));
  const EngineMode mode = engine_mode(config);
  const Shape& shape = input.spec.shape;
  const std::int64_t channels = shape[3];
  const std::int64_t rows = shape[1] * shape[2];
  const ShardSpec* shard = shard_of(input.spec);
  const std::int64_t cut = shard != nullptr && !shard->shape.empty() ? shard->shape[0] : rows / job.board.grid.y;
  HostTensor out{job.outputs[0].spec, input.floats, {}};
  parallel_for(0, rows == 0 ? 0 : shape[0] * groups, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t g = first; g < last; ++g) {
      Group group{&out.floats, 0, rows, channels / groups, channels, std::max(cut, kTile)};
      group.start = g / groups * rows * channels + g % groups * group.width;
      normalize(group, static_cast<float>(epsilon), config);
    }
  });
  parallel_for(0, shape[0] * rows, 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const std::span<float> row(out.floats.data() + r * channels, static_cast<std::size_t>(channels));
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (weight != nullptr && i < weight->floats.size())
          row[i] = fpu_mul(engine::source(row[i]), engine::source(weight->floats[i]), mode);
        if (bias != nullptr && i < bias->floats.size())
          row[i] = fpu_add(engine::source(row[i]), engine::source(bias->floats[i]), mode.dst);
      }
      pack(row, channels, out.spec.dtype.value, mode.dst);
    }
  });
  return std::vector{std::move(out)};
}

}  // namespace

extern const Kernel kGroupNormKernel{.op = "ttnn.group_norm", .run = run};

}  // namespace opwright::sim

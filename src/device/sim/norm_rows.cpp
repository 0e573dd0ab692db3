#include "device/sim/norm_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "device/sim/sfpu.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;
constexpr std::int64_t kGrain = 16;  // rows a thread takes at a time

float to_bfloat16(float value) { return round_to_dst(value, Dst::kBf16); }

// The sum of a row over its width: one core's, or the cores' partial sums added by one of them.
float row_mean(std::span<const float> row, std::int64_t shard_width, EngineMode mode) {
  const auto width = static_cast<std::int64_t>(row.size());
  if (shard_width <= 0 || shard_width >= width) {
    const float sum = fpu_row_sum(row, 1.0F, mode);
    return truncate_to_dst(sum * (1.0F / static_cast<float>(width)), mode.dst);
  }
  const float scaler = to_bfloat16(1.0F / static_cast<float>(width));
  float mean = 0;
  for (std::int64_t at = 0; at < width; at += shard_width) {
    const auto part =
        row.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(std::min(shard_width, width - at)));
    const float partial[] = {fpu_row_sum(part, 1.0F, mode)};
    mean = fpu_row_sum(partial, scaler, mode, mean);
  }
  return mean;
}

// A flag of the program configuration.
bool asks_for(const BoundCall& call, std::string_view field) {
  const Value* program = call.find("program_config");
  const Struct* config = program == nullptr ? nullptr : program->as_struct();
  if (config == nullptr) return false;
  for (const auto& [name, value] : config->fields) {
    if (name != field) continue;
    if (const bool* set = value.as_bool()) return *set;
    if (const std::int64_t* number = value.as_int()) return *number != 0;
  }
  return false;
}

void load(std::span<const float> from, const float* residual, std::span<float> row, Dst dst) {
  if (residual == nullptr) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = engine::source(from[i]);
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = engine::source(fpu_add(engine::source(from[i]), engine::source(residual[i]), dst));
}

}  // namespace

// The guess is 1 / ln 2 for a value in [0.5, 1): good in the middle, 4 % short at the upper end.
float approximate_reciprocal(float value) {
  constexpr float kGuess = 1.442695F;
  int exponent = 0;
  const float part = std::frexp(value, &exponent);
  const float first = kGuess * (2.0F - part * kGuess);
  return std::ldexp(first * (2.0F - part * first), -exponent);
}

float norm_rsqrt(float value, bool legacy, const ComputeConfig& config) {
  const Dst dst = dst_of(config.fp32_acc);
  if (!legacy || !config.approx || !std::isnormal(value) || value < 0) return sfpu(Unary::kRsqrt, value, dst, false);
  constexpr std::uint32_t kBias = 127U << 23;
  const float root = std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + kBias) >> 1);
  return truncate_to_dst(approximate_reciprocal(truncate_to_dst(root, dst)), dst);
}

float sum_of_squares(std::span<const float> row, float scaler, EngineMode mode, std::vector<float>& squares) {
  squares.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) squares[i] = fpu_mul(row[i], row[i], mode);
  return fpu_row_sum(squares, scaler, mode);
}

void scale_row(std::span<float> row, float variance, const RowNorm& norm) {
  const EngineMode mode = engine_mode(norm.config);
  const float moved = fpu_add(engine::source(variance), to_bfloat16(norm.epsilon), mode.dst);
  const float scale = engine::source(norm_rsqrt(moved, norm.legacy_rsqrt, norm.config));
  for (float& value : row) value = fpu_mul(value, scale, mode);
  if (norm.weight != nullptr) {
    const float* weight = norm.weight->floats.data();
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = fpu_mul(engine::source(row[i]), engine::source(weight[i]), mode);
  }
  if (norm.bias != nullptr) {
    const float* bias = norm.bias->floats.data();
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = fpu_add(engine::source(row[i]), engine::source(bias[i]), mode.dst);
  }
}

HostTensor normalize_rows(const RowNorm& norm, const OutputSpec& output) {
  HostTensor out = unwritten(output);
  const EngineMode mode = engine_mode(norm.config);
  const std::int64_t width = row_length(norm.input->spec.shape);
  const std::int64_t rows = width == 0 ? 0 : norm.input->size() / width;
  const auto size = static_cast<std::size_t>(width);
  parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> squares(size);
    for (std::int64_t r = first; r < last; ++r) {
      const auto at = static_cast<std::size_t>(r * width);
      const std::span<float> row(out.floats.data() + at, size);
      load({norm.input->floats.data() + at, size},
           norm.residual == nullptr ? nullptr : norm.residual->floats.data() + at, row, mode.dst);
      if (norm.center) {
        const float mean = -engine::source(row_mean(row, norm.shard_width, mode));
        for (float& value : row) value = engine::source(fpu_add(value, mean, mode.dst));
      }
      for (std::size_t i = 0; i < size; ++i) squares[i] = fpu_mul(row[i], row[i], mode);
      scale_row(row, row_mean(squares, norm.shard_width, mode), norm);
      pack(row, width, out.spec.dtype.value, mode.dst);
    }
  });
  return out;
}

std::int64_t shard_width_of(const TensorSpec& spec) {
  const ShardSpec* shard = shard_of(spec);
  return shard == nullptr || shard->shape.empty() ? 0 : std::max<std::int64_t>(shard->shape.back(), kTile);
}

Checked<void> admit_floats(const BoundCall& call, std::span<const std::string_view> params) {
  for (const std::string_view param : params) {
    const TensorSpec* spec = call.tensor(param);
    if (spec != nullptr && is_integer(spec->dtype.value))
      return unsupported(std::string(param),
                         fmt::format("{} of dtype {}: there is no kernel for it", param, name_of(spec->dtype.value)));
  }
  return {};
}

Checked<void> admit_row_norm(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  static constexpr std::string_view kParams[] = {"input_tensor", "residual_input_tensor", "weight", "bias"};
  return admit_floats(call, kParams);
}

Checked<std::vector<HostTensor>> run_row_norm(const KernelJob& job, bool center, const ComputeConfig& defaults) {
  RowNorm norm;
  norm.center = center;
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  norm.epsilon = static_cast<float>(epsilon);
  OPWRIGHT_CHECK_ASSIGN(norm.config, compute_argument(job.call, defaults));
  norm.input = job.input("input_tensor");
  norm.residual = job.input("residual_input_tensor");
  norm.weight = job.input("weight");
  norm.bias = job.input("bias");
  norm.shard_width = shard_width_of(norm.input->spec);
  norm.legacy_rsqrt = asks_for(job.call, "legacy_rsqrt");
  return std::vector{normalize_rows(norm, job.outputs[0])};
}

}  // namespace opwright::sim

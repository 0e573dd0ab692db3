#include <algorithm>
#include <cmath>

#include "model/host_tensor.h"
#include "ops/shared/norm_rules.h"

namespace opwright {

Checked<Exact> row_norm_reference(const ReferenceJob& job, NormKind kind) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* residual = job.input("residual_input_tensor");
  const HostTensor* weight = job.input("weight");
  const HostTensor* bias = job.input("bias");
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  const std::int64_t width = job.rows.length;
  std::vector<double> row(static_cast<std::size_t>(width));
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * width));
  exact.magnitude.reserve(exact.value.capacity());
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t at = job.rows.at(r) * width;
    double mean = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      double& value = row[static_cast<std::size_t>(i)];
      value = input.at(at + i) + (residual == nullptr ? 0.0 : residual->at(at + i));
      mean += value;
    }
    mean = kind == NormKind::kLayer ? mean / static_cast<double>(width) : 0.0;
    double variance = 0;
    for (const double value : row) variance += (value - mean) * (value - mean);
    const double scale = 1.0 / std::sqrt(variance / static_cast<double>(width) + epsilon);
    // Mean and variance are off by a part of the row's size, whatever a single value is.
    const double common = 0.125 * std::sqrt(variance / static_cast<double>(width) + mean * mean);
    for (std::int64_t i = 0; i < width; ++i) {
      const double value = row[static_cast<std::size_t>(i)];
      const double gain = weight == nullptr ? 1.0 : weight->at(i);
      const double shift = bias == nullptr ? 0.0 : bias->at(i);
      exact.value.push_back((value - mean) * scale * gain + shift);
      exact.magnitude.push_back((std::abs(value) + std::abs(mean) + common) * scale * std::abs(gain) + std::abs(shift));
    }
  }
  return exact;
}

// Sums of more squares than that leave a bfloat16 destination behind: it may be half of them that is missing.
constexpr std::int64_t kWidest = 8192;

ErrorBudget norm_budget(const ComputeConfig& config, std::int64_t width, bool legacy) {
  const bool wide = config.fp32_acc;
  // The engine keeps ten fraction bits of addends; a 16-bit destination seven. Sums of a row average their errors.
  const double unit = wide ? 0x1p-10 : 0x1p-7;
  const double operands = config.fidelity == Fidelity::kLoFi    ? 0x1p-4
                          : config.fidelity == Fidelity::kHiFi2 ? 0x1p-6
                                                                : 0.0;
  // Mean and scale are the row's own: real kernels scale rows of 256 and 1024 by 0.9875 to 1.0094 in a bfloat16
  // destination. It takes in squares four times for 16 of them, and half of the sum's relative error is the scale's:
  // three deviations.
  const double sum = wide ? 0.0 : 1.5 * 0x1p-8 * std::sqrt(0.06 * static_cast<double>(width) / 4);
  // What all rows share of that: ties away from zero let sums of squares grow (recorded: 1.6 % at a width of 2880).
  const double growth = wide ? 0.0 : 0.5 * 0.07 * 0x1p-8 * static_cast<double>(width) / 16;
  // Operand bits are dropped from squares too, which lets the scale grow by a quarter of what products lose.
  const double common = (wide ? 3 : 2) * unit + operands + std::min(sum, 0.125) + (legacy ? 0.04 : 0.0);
  // A row that is scaled as a whole takes its elements along; older kernels have that in their 4 %.
  const double along = legacy ? 0.0 : 2 * unit + std::min(sum, 0.0625);
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .relative = std::max(4 * unit, along) + 2 * operands + (legacy ? 0.04 : 0.0),
          .terms = width,
          .accumulator_bits = wide ? 24 : 8,
          .common = common,
          .shrinks = 0.75 * operands + (legacy ? 0.04 : 0.0),
          .row_chance = legacy ? 0.0 : std::max(0.0, std::min(sum, 0.125) - growth),
          .pcc = wide && operands == 0 ? 0.9999 : 0.999,
          .why = wide              ? "norm of a row, float32 destination"
                 : width > kWidest ? "norm of a row, bfloat16 destination, in which sums of rows this wide lose terms"
                                   : "norm of a row, bfloat16 destination"};
}

}  // namespace opwright

#include "device/sim/rotary.h"

#include <algorithm>
#include <vector>

#include "device/sim/fpu_binary.h"
#include "dialect/ttnn/compute_config.h"

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;

// The engine's product of a row with another that may end early; memory between two steps holds bfloat16.
void multiply(std::span<float> a, std::span<const float> b, Dst dst) {
  const std::size_t known = std::min(a.size(), b.size());
  binary(Binary::kMul, Engine::kMatrix, dst, a.first(known), b.first(known), a.first(known));
  std::fill(a.begin() + static_cast<std::ptrdiff_t>(known), a.end(), 0.0F);
  pack(a, static_cast<std::int64_t>(a.size()), DType::kBfloat16, dst);
}

}  // namespace

void rotate(const RotaryRow& row, Dst dst, DType dtype, std::span<float> out) {
  const auto width = static_cast<std::int64_t>(out.size());
  const std::int64_t half = width / 2;
  std::vector<float> turned(out.size());
  for (std::int64_t i = 0; i < width; ++i) {
    float& to = turned[static_cast<std::size_t>(i)];
    if (row.matrix == nullptr) {
      to = i < half ? -row.x[static_cast<std::size_t>(i + half)] : row.x[static_cast<std::size_t>(i - half)];
      continue;
    }
    const std::int64_t block = i / kTile * kTile;
    float sum = 0.0F;
    for (std::int64_t j = 0; j < std::min(kTile, width - block); ++j)
      sum += row.x[static_cast<std::size_t>(block + j)] * row.matrix[j * kTile + i % kTile];
    to = round_to_dst(sum, Dst::kBf16);
  }
  multiply(turned, row.sin, dst);
  std::vector<float> along(row.x.begin(), row.x.end());
  multiply(along, row.cos, dst);
  binary(Binary::kAdd, Engine::kMatrix, dst, along, turned, out);
  pack(out, width, dtype, dst);
}

std::span<const float> row_of(const HostTensor& tensor, std::int64_t row) {
  const std::int64_t width = row_length(tensor.spec.shape);
  return {tensor.floats.data() + row * width, static_cast<std::size_t>(width)};
}

ComputeConfig rotary_compute(const BoundCall& call) {
  const ComputeConfig otherwise{.fidelity = Fidelity::kHiFi4, .approx = true};
  const Value* given = call.passed("compute_kernel_config") ? call.find("compute_kernel_config") : nullptr;
  return given == nullptr ? otherwise : compute_config_of(*given, otherwise).value_or(otherwise);
}

}  // namespace opwright::sim

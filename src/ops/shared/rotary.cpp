#include "ops/shared/rotary.h"

#include <cmath>
#include <vector>

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

double value_at(const HostTensor& tensor, std::int64_t row, std::int64_t i) {
  const std::int64_t width = row_length(tensor.spec.shape);
  return i < width ? tensor.at(row * width + i) : 0.0;
}

}  // namespace

void append_rotary(const RotaryRow& row, std::int64_t length, Exact& exact) {
  std::vector<double> x(static_cast<std::size_t>(round_up(length, kTile)));
  if (row.x_row >= 0)
    for (std::int64_t i = 0; i < length; ++i) x[static_cast<std::size_t>(i)] = value_at(*row.x, row.x_row, i);
  const std::int64_t half = length / 2;
  for (std::int64_t i = 0; i < length; ++i) {
    double turned = 0;
    if (row.matrix == nullptr) {
      turned = i < half ? -x[static_cast<std::size_t>(i + half)] : x[static_cast<std::size_t>(i - half)];
    } else {
      const std::int64_t block = i / kTile * kTile;
      for (std::int64_t j = 0; j < kTile; ++j)
        turned += x[static_cast<std::size_t>(block + j)] * row.matrix->at(j * kTile + i % kTile);
    }
    const bool there = row.angle_row >= 0;
    const double along = there ? x[static_cast<std::size_t>(i)] * value_at(*row.cos, row.angle_row, i) : 0.0;
    const double across = there ? turned * value_at(*row.sin, row.angle_row, i) : 0.0;
    exact.value.push_back(along + across);
    exact.magnitude.push_back(std::abs(along) + std::abs(across));
  }
}

ErrorBudget rotary_budget() {
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 1,
          .relative = 0x1.0p-6,
          .pcc = 0.9999,
          .why = "two products and their sum, each rounded to bfloat16"};
}

void fill_angles(HostTensor& tensor, bool sine, bool pairs, bool position_of_user) {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t width = row_length(shape);
  const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  if (width == 0 || height == 0) return;
  constexpr double kTheta = 500000;
  const std::int64_t half = std::max<std::int64_t>(width / 2, 1);
  std::vector<double> frequencies;
  for (std::int64_t column = 0; column < width; ++column) {
    const std::int64_t pair = pairs ? column / 2 : column % half;
    frequencies.push_back(portable_exp(-portable_log(kTheta) * static_cast<double>(pair) / static_cast<double>(half)));
  }
  for (std::size_t at = 0; at < tensor.floats.size(); ++at) {
    const auto row = static_cast<std::int64_t>(at) / width;
    // In decode each user is at a position of its own.
    const std::int64_t position = position_of_user ? 17 + 37 * (row / height) : row % height;
    const double angle = static_cast<double>(position) * frequencies[at % frequencies.size()];
    tensor.floats[at] = static_cast<float>(sine ? portable_sin(angle) : portable_cos(angle));
  }
}

void fill_rotation(HostTensor& tensor) {
  const std::int64_t width = row_length(tensor.spec.shape);
  tensor.floats.assign(static_cast<std::size_t>(tensor.size()), 0.0F);
  for (std::size_t at = 0; at < tensor.floats.size(); ++at) {
    const std::int64_t row = static_cast<std::int64_t>(at) / width % kTile;
    const std::int64_t column = static_cast<std::int64_t>(at) % width % kTile;
    if (row % 2 == 0 && column == row + 1) tensor.floats[at] = 1.0F;
    if (row % 2 == 1 && column == row - 1) tensor.floats[at] = -1.0F;
  }
}

}  // namespace opwright

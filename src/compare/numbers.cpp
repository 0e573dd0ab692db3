#include "compare/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opwright {

std::size_t Numbers::size() const {
  switch (kind) {
    case NumberKind::kFloat32:
    case NumberKind::kBfloat16:
      return floats.size();
    case NumberKind::kFloat64:
      return doubles.size();
    case NumberKind::kInt64:
      return ints.size();
  }
  return 0;
}

double Numbers::at(std::size_t i) const {
  switch (kind) {
    case NumberKind::kFloat32:
    case NumberKind::kBfloat16:
      return static_cast<double>(floats[i]);
    case NumberKind::kFloat64:
      return doubles[i];
    case NumberKind::kInt64:
      return static_cast<double>(ints[i]);
  }
  return 0;
}

Numbers float32_numbers(std::span<const float> values) { return {.kind = NumberKind::kFloat32, .floats = values}; }
Numbers bfloat16_numbers(std::span<const float> values) { return {.kind = NumberKind::kBfloat16, .floats = values}; }
Numbers float64_numbers(std::span<const double> values) { return {.kind = NumberKind::kFloat64, .doubles = values}; }
Numbers int64_numbers(std::span<const std::int64_t> values) { return {.kind = NumberKind::kInt64, .ints = values}; }

namespace {

std::int64_t towards_zero(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (std::isnan(value) || value < -kLimit || value >= kLimit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

}  // namespace

Numbers converted(Numbers values, NumberKind kind, OwnedNumbers& storage) {
  if (values.kind == kind) return values;
  const std::size_t n = values.size();
  switch (kind) {
    case NumberKind::kFloat32:
      if (values.kind == NumberKind::kBfloat16) return float32_numbers(values.floats);
      [[fallthrough]];
    case NumberKind::kBfloat16:
      storage.floats.resize(n);
      for (std::size_t i = 0; i < n; ++i) storage.floats[i] = static_cast<float>(rounded(kind, values.at(i)));
      return {.kind = kind, .floats = storage.floats};
    case NumberKind::kFloat64:
      storage.doubles.resize(n);
      for (std::size_t i = 0; i < n; ++i) storage.doubles[i] = values.at(i);
      return float64_numbers(storage.doubles);
    case NumberKind::kInt64:
      storage.ints.resize(n);
      for (std::size_t i = 0; i < n; ++i) storage.ints[i] = towards_zero(values.at(i));
      return int64_numbers(storage.ints);
  }
  return values;
}

namespace {

float to_float(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  // A double beyond the range of float is undefined to convert.
  if (std::isfinite(value) && std::abs(value) > kLargest) {
    constexpr double kHalfStep = 0x1p103;
    if (std::abs(value) < kLargest + kHalfStep) return static_cast<float>(std::copysign(kLargest, value));
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(std::copysign(1.0, value)));
  }
  return static_cast<float>(value);
}

}  // namespace

double rounded(NumberKind kind, double value) {
  switch (kind) {
    case NumberKind::kFloat64:
      return value;
    case NumberKind::kBfloat16:
      return static_cast<double>(round_to_bfloat16(to_float(value)));
    case NumberKind::kFloat32:
    case NumberKind::kInt64:
      return static_cast<double>(to_float(value));
  }
  return value;
}

}  // namespace opwright

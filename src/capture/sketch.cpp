#include "capture/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace opwright::capture {
namespace {

constexpr std::array<double, 9> kQuantiles = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
constexpr std::uint64_t kSample = 4096;

double from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

double from_float16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <class Stored, class ToDouble>
void look(const void* elements, std::uint64_t count, ToDouble to_double, Sketch& out) {
  const auto* bytes = static_cast<const unsigned char*>(elements);
  const auto at = [&](std::uint64_t i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
    return static_cast<double>(to_double(stored));
  };
  out.count = count;
  double sum = 0;
  std::uint64_t finite = 0;
  bool rises = true, falls = true;
  double before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = at(i);
    if (i > 0) {
      rises = rises && value >= before;
      falls = falls && value <= before;
    }
    before = value;
    if (std::isnan(value)) {
      ++out.nans;
      continue;
    }
    if (std::isinf(value)) {
      ++out.infs;
      continue;
    }
    if (value == 0) ++out.zeros;
    if (finite == 0) out.min = out.max = value;
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    out.integers = out.integers && value == std::floor(value);
    sum += value;
    ++finite;
  }
  if (finite > 0) out.mean = sum / static_cast<double>(finite);
  if (rises != falls && count > 1) out.sorted = rises ? 1 : -1;

  std::vector<double> sample;
  const std::uint64_t step = std::max<std::uint64_t>(1, count / kSample);
  for (std::uint64_t i = 0; i < count && sample.size() < kSample; i += step) {
    if (const double value = at(i); std::isfinite(value)) sample.push_back(value);
  }
  if (sample.empty()) return;
  std::sort(sample.begin(), sample.end());
  for (std::size_t q = 0; q < kQuantiles.size(); ++q) {
    out.quantiles[q] =
        sample[static_cast<std::size_t>(std::lround(kQuantiles[q] * static_cast<double>(sample.size() - 1)))];
  }
}

}  // namespace

std::size_t element_size(std::string_view dtype) {
  if (dtype == "float64" || dtype == "int64" || dtype == "uint64") return 8;
  if (dtype == "float32" || dtype == "int32" || dtype == "uint32") return 4;
  if (dtype == "bfloat16" || dtype == "float16" || dtype == "int16" || dtype == "uint16") return 2;
  if (dtype == "int8" || dtype == "uint8" || dtype == "bool") return 1;
  return 0;
}

bool sketch(std::string_view dtype, const void* elements, std::uint64_t count, Sketch& out) {
  out = {};
  const auto same = [](auto value) { return value; };
  if (dtype == "float32") {
    look<float>(elements, count, same, out);
  } else if (dtype == "float64") {
    look<double>(elements, count, same, out);
  } else if (dtype == "bfloat16") {
    look<std::uint16_t>(elements, count, from_bfloat16, out);
  } else if (dtype == "float16") {
    look<std::uint16_t>(elements, count, from_float16, out);
  } else if (dtype == "int64") {
    look<std::int64_t>(elements, count, same, out);
  } else if (dtype == "uint64") {
    look<std::uint64_t>(elements, count, same, out);
  } else if (dtype == "int32") {
    look<std::int32_t>(elements, count, same, out);
  } else if (dtype == "uint32") {
    look<std::uint32_t>(elements, count, same, out);
  } else if (dtype == "int16") {
    look<std::int16_t>(elements, count, same, out);
  } else if (dtype == "uint16") {
    look<std::uint16_t>(elements, count, same, out);
  } else if (dtype == "int8") {
    look<std::int8_t>(elements, count, same, out);
  } else if (dtype == "uint8" || dtype == "bool") {
    look<std::uint8_t>(elements, count, same, out);
  } else {
    return false;
  }
  return true;
}

void encode(const Sketch& sketch, Encoder& out) {
  out.structure("sketch", 10);
  out.field("count");
  out.integer(static_cast<std::int64_t>(sketch.count));
  out.field("min");
  out.real(sketch.min);
  out.field("max");
  out.real(sketch.max);
  out.field("mean");
  out.real(sketch.mean);
  out.field("quantiles");
  out.list(sketch.quantiles.size());
  for (const double quantile : sketch.quantiles) out.real(quantile);
  out.field("zeros");
  out.integer(static_cast<std::int64_t>(sketch.zeros));
  out.field("nans");
  out.integer(static_cast<std::int64_t>(sketch.nans));
  out.field("infs");
  out.integer(static_cast<std::int64_t>(sketch.infs));
  out.field("integers");
  out.boolean(sketch.integers);
  out.field("sorted");
  out.integer(sketch.sorted);
}

}  // namespace opwright::capture

#include "fuse/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "replay/distance.h"

namespace opwright::fuse {
namespace {

replay::Values values_of(const HostTensor& tensor) { return {tensor.floats, tensor.ints}; }

OutputQuality quality_of(const HostTensor& actual, const HostTensor& exact) {
  OutputQuality out;
  if (actual.floats.size() != exact.floats.size() || actual.ints.size() != exact.ints.size()) {
    out.is_finite = false;
    return out;
  }
  const double rtol = rtol_of(exact.spec.dtype.value);
  std::int64_t equal = 0;
  const auto count = static_cast<std::int64_t>(actual.floats.size() + actual.ints.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = actual.at(i), e = exact.at(i);
    if (a == e || (std::isnan(a) && std::isnan(e))) {
      ++equal;
      continue;
    }
    const double apart = std::abs(a - e);
    if (!std::isfinite(apart)) {
      out.is_finite = false;
      continue;
    }
    out.worst = std::max(out.worst, apart);
    out.beyond = std::max(out.beyond, apart - rtol * std::abs(e));
  }
  if (actual.integer()) {
    out.pcc = count == 0 ? 1 : static_cast<double>(equal) / static_cast<double>(count);
    return out;
  }
  out.pcc = replay::distance(values_of(actual), values_of(exact)).pcc;
  if (std::isnan(out.pcc)) out.pcc = out.beyond <= 1e-6 ? 1 : 0;
  return out;
}

// Two digits, the next larger number: 0.01234 -> 0.013.
double rounded_up(double value) {
  if (value <= 0) return 0;
  const double step = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::stod(fmt::format("{:.3g}", std::ceil(value / step - 1e-9) * step));
}

}  // namespace

double Quality::pcc() const {
  double out = 1;
  for (const OutputQuality& output : outputs) out = std::min(out, output.pcc);
  return out;
}
double Quality::beyond() const {
  double out = 0;
  for (const OutputQuality& output : outputs) out = std::max(out, output.beyond);
  return out;
}
bool Quality::is_finite() const {
  return std::ranges::all_of(outputs, [](const OutputQuality& output) { return output.is_finite; });
}

double rtol_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 0.001;
    case DType::kBfloat8B:
      return 0.04;
    case DType::kBfloat4B:
      return 0.3;
    default:
      return is_integer(dtype) ? 0 : 0.016;
  }
}

Quality quality(const Ran& actual, const Ran& exact) {
  Quality out;
  for (const auto& [ran, who] : {std::pair(&actual, "the device"), std::pair(&exact, "the reference")})
    if (!ran->refused.empty() && out.refused.empty())
      out.refused = fmt::format("{}: call {}: {}", who, ran->at + 1, ran->refused);
  if (!out.refused.empty()) return out;
  if (actual.outputs.size() != exact.outputs.size()) {
    out.refused = fmt::format("{} outputs, {} are due", actual.outputs.size(), exact.outputs.size());
    return out;
  }
  for (std::size_t o = 0; o < exact.outputs.size(); ++o)
    out.outputs.push_back(quality_of(actual.outputs[o], exact.outputs[o]));
  return out;
}

Expected expect(const std::vector<Quality>& measured, const std::vector<TensorSpec>& outputs) {
  Expected out;
  out.measured_pcc = 1;
  double beyond = 0;
  for (const Quality& one : measured) {
    out.measured_pcc = std::min(out.measured_pcc, one.refused.empty() ? one.pcc() : 0);
    beyond = std::max(beyond, one.beyond());
  }
  const double rule = 1 - 2 * (1 - out.measured_pcc);
  out.pcc = std::max(kLeastPcc, std::floor(rule * 1e5) / 1e5);
  out.atol = std::max(1e-6, rounded_up(2 * beyond));
  for (const TensorSpec& output : outputs) out.rtol = std::max(out.rtol, rtol_of(output.dtype.value));
  out.seeds = static_cast<int>(measured.size());
  return out;
}

std::string misses(const Quality& quality, const Expected& expected) {
  if (!quality.refused.empty()) return quality.refused;
  if (!quality.is_finite()) return "NaN or infinity where a number is due";
  if (const double pcc = quality.pcc(); !(pcc >= expected.pcc))
    return fmt::format("PCC {:.6f} < {:.5f}", pcc, expected.pcc);
  if (const double beyond = quality.beyond(); beyond > expected.atol)
    return fmt::format("{:.3g} beyond rtol {:g}, atol is {:g}", beyond, expected.rtol, expected.atol);
  return "";
}

UnitTest test_unit(const Function& function, Device& device, const ParameterSet& set, int seeds,
                   const std::function<bool()>& stop) {
  UnitTest out;
  const auto one = [&](int seed) {
    const auto inputs = function.inputs(static_cast<std::uint64_t>(seed));
    return quality(function.run(device, inputs), function.exact(inputs));
  };
  for (int seed = 1; seed <= seeds; ++seed) {
    if (stop && stop()) {
      out.trouble = "stopped";
      return out;
    }
    out.measured.push_back(one(seed));
    if (!out.measured.back().refused.empty()) {
      out.trouble = out.measured.back().refused;
      return out;
    }
  }
  out.expected = expect(out.measured, set.outputs);
  for (std::size_t i = 0; i < out.measured.size() && out.trouble.empty(); ++i)
    if (std::string miss = misses(out.measured[i], out.expected); !miss.empty())
      out.trouble = fmt::format("seed {}: {}", i + 1, miss);
  out.tested.push_back(one(seeds + 1));
  if (std::string miss = misses(out.tested.back(), out.expected); out.trouble.empty() && !miss.empty())
    out.trouble = fmt::format("seed {}, which nothing was set from: {}", seeds + 1, miss);
  return out;
}

}  // namespace opwright::fuse

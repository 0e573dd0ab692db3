#include "compare/allclose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/pcc.h"

namespace opwright {
namespace {

Status comparable(Numbers a, Numbers b) {
  if (a.size() != b.size()) {
    return fail(ErrorCode::kUsage, fmt::format("{} values against {}", a.size(), b.size()));
  }
  return {};
}

// |a - b| as the format stores it. Integers stay integers.
double difference(NumberKind kind, double a, double b) {
  return kind == NumberKind::kInt64 ? std::abs(a - b) : rounded(kind, std::abs(a - b));
}

}  // namespace

bool all_close(Numbers golden, Numbers calculated, double rtol, double atol, bool equal_nan) {
  const NumberKind kind = golden.kind;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double g = golden.at(i);
    const double c = calculated.at(i);
    if (g == c || (equal_nan && std::isnan(g) && std::isnan(c))) continue;
    const double error = rounded(kind, std::abs(g - c));
    const double allowed = rounded(kind, atol + std::abs(rounded(kind, rtol * c)));
    if (!std::isfinite(error) || !(error <= allowed)) return false;
  }
  return true;
}

Deltas max_deltas(Numbers golden, Numbers calculated) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const NumberKind kind = golden.kind;
  Deltas deltas;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double g = golden.at(i);
    const double c = calculated.at(i);
    const double error = difference(kind, g, c);
    const double base = std::abs(c);
    double relative = kNan;
    if (base != 0.0) {
      relative = rounded(kind, error / base);
    } else if (error != 0.0) {
      relative = error + std::numeric_limits<double>::infinity();
    }
    deltas.atol = std::isnan(error) || std::isnan(deltas.atol) ? kNan : std::max(deltas.atol, error);
    deltas.rtol = std::isnan(relative) || std::isnan(deltas.rtol) ? kNan : std::max(deltas.rtol, relative);
  }
  return deltas;
}

std::string deltas_text(NumberKind kind, Deltas deltas) {
  const NumberKind ratio = kind == NumberKind::kInt64 ? NumberKind::kFloat32 : kind;
  return fmt::format("Max ATOL Delta: {}, Max RTOL Delta: {}", python_text(kind, deltas.atol),
                     python_text(ratio, deltas.rtol));
}

bool all_equal(Numbers golden, Numbers calculated) {
  if (golden.kind == NumberKind::kInt64 && calculated.kind == NumberKind::kInt64) {
    return std::ranges::equal(golden.ints, calculated.ints);
  }
  if (golden.size() != calculated.size()) return false;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (golden.at(i) != calculated.at(i)) return false;
  }
  return true;
}

Result<Check> comp_allclose(Numbers golden, Numbers calculated, double rtol, double atol) {
  OPWRIGHT_TRY(comparable(golden, calculated));
  if (golden.size() == 0) return fail(ErrorCode::kUsage, "allclose of empty tensors: there is no largest difference");
  OwnedNumbers storage;
  const Numbers same = converted(calculated, golden.kind, storage);
  return Check{all_close(golden, same, rtol, atol, true), deltas_text(golden.kind, max_deltas(golden, same))};
}

Result<Check> comp_equal(Numbers golden, Numbers calculated) {
  OPWRIGHT_TRY(comparable(golden, calculated));
  if (golden.size() == 0) return Check{true, "both empty"};
  OwnedNumbers storage;
  const Numbers same = converted(calculated, golden.kind, storage);
  return Check{all_equal(golden, same), deltas_text(golden.kind, max_deltas(golden, same))};
}

Result<Check> comp_allclose_and_pcc(Numbers golden, Numbers calculated, double rtol, double atol, double pcc) {
  OPWRIGHT_TRY_ASSIGN(Check check, comp_allclose(golden, calculated, rtol, atol));
  if (golden.size() == 1) return check;
  OPWRIGHT_TRY_ASSIGN(const PccCheck correlation, comp_pcc(golden, calculated, {.threshold = pcc}));
  check.passed = check.passed && correlation.passed;
  check.message += ", pcc=" + python_text(NumberKind::kFloat64, correlation.pcc);
  return check;
}

Result<Check> assert_close(Numbers actual, Numbers expected, double rtol, double atol) {
  OPWRIGHT_TRY(comparable(actual, expected));
  if (actual.kind != expected.kind) return Check{false, "The values for attribute 'dtype' do not match"};
  double worst = 0.0;
  std::size_t worst_at = 0;
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double a = actual.at(i);
    const double e = expected.at(i);
    if (a == e) continue;
    const double error = rounded(actual.kind, std::abs(a - e));
    const double allowed = rounded(actual.kind, atol + std::abs(rounded(actual.kind, rtol * e)));
    if (std::isfinite(error) && error <= allowed) continue;
    const double size = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    if (beyond == 0 || size > worst) {
      worst = size;
      worst_at = i;
    }
    ++beyond;
  }
  if (beyond == 0) return Check{true, ""};
  return Check{
      false,
      fmt::format("Mismatched elements: {} / {} ({:.1f}%), greatest at {}: {} instead of {}", beyond, actual.size(),
                  100.0 * static_cast<double>(beyond) / static_cast<double>(actual.size()), worst_at,
                  python_text(actual.kind, actual.at(worst_at)), python_text(expected.kind, expected.at(worst_at)))};
}

}  // namespace opwright

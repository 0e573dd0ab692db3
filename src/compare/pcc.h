// Pearson's correlation as the existing test suites compute it, with every special case, today's and earlier ones.
// It sees neither scale nor offset: the judge (judge.h) adds what it lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "compare/numbers.h"

namespace opwright {

enum class PccVariant : std::uint8_t {
  kCurrent,   // "pcc": constants and one all-zero tensor fall back to allclose
  kJune2026,  // "pcc-2026-06": 2026-06-25 to 2026-07-22; constants pass, one all-zero tensor fails
  kCorrcoef,  // "pcc-corrcoef": before; least element of numpy's masked correlation matrix
  kTtLib,     // "pcc-tt-lib": of get_atol_rtol_pcc; a single element and constants fall back to allclose
};
std::string_view name_of(PccVariant variant);
std::optional<PccVariant> parse_pcc_variant(std::string_view name);
std::span<const PccVariant> all_pcc_variants();

struct PccRule {
  double threshold = 0.99;
  double rtol = 1e-5;  // of the fall-back to allclose
  double atol = 1e-4;
  PccVariant variant = PccVariant::kCurrent;
};

struct PccCheck {
  bool passed = false;
  double pcc = 0.0;
};

// An error only where the numbers of elements differ.
Result<PccCheck> comp_pcc(Numbers golden, Numbers calculated, PccRule rule = {});

}  // namespace opwright

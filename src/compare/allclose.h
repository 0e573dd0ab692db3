// The element-by-element comparisons of the existing test suites, with their messages.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "compare/numbers.h"

namespace opwright {

struct Check {
  bool passed = false;
  std::string message;
};

// |golden - calculated| <= atol + rtol x |calculated| everywhere, NaN equal to NaN; arithmetic in golden's format.
// Fails (as an error) when there is nothing to compare or the sizes differ, as the original raises.
Result<Check> comp_allclose(Numbers golden, Numbers calculated, double rtol = 1e-5, double atol = 1e-8);
// Every element equal; NaN is not equal to NaN.
Result<Check> comp_equal(Numbers golden, Numbers calculated);
// allclose and, but for a single element, PCC.
Result<Check> comp_allclose_and_pcc(Numbers golden, Numbers calculated, double rtol = 1e-5, double atol = 1e-8,
                                    double pcc = 0.99);
// torch.testing.assert_close: |actual - expected| <= atol + rtol x |expected|, the same format asked for, NaN never
// equal.
Result<Check> assert_close(Numbers actual, Numbers expected, double rtol, double atol);

// The rule alone, on values of one format and size. Empty values are close.
bool all_close(Numbers golden, Numbers calculated, double rtol, double atol, bool equal_nan);
// `Max ATOL Delta: …, Max RTOL Delta: …` of values of one format; any NaN makes both nan.
struct Deltas {
  double atol = 0.0;
  double rtol = 0.0;
};
Deltas max_deltas(Numbers golden, Numbers calculated);
std::string deltas_text(NumberKind kind, Deltas deltas);
// Whether all values are equal. NaN is equal to nothing.
bool all_equal(Numbers golden, Numbers calculated);

}  // namespace opwright

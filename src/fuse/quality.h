// How good a fused operator is beside its reference, what may be expected of it from then on, and whether a run keeps
// to that. The same rule as in the emitted test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuse/function.h"

namespace opwright::fuse {

// One output beside the exact one.
struct OutputQuality {
  double pcc = 0;     // of whole numbers the part that is equal; without spread 1 where all is within rtol, else 0
  double beyond = 0;  // the largest |actual - exact| - rtol |exact|: what an atol has to be
  double worst = 0;   // the largest |actual - exact|
  bool is_finite = true;
};
struct Quality {
  std::string refused;  // why there are no numbers; "" there are
  std::vector<OutputQuality> outputs;

  double pcc() const;     // of the worst output
  double beyond() const;  // likewise
  bool is_finite() const;
};

double rtol_of(DType dtype);  // what rounding to it alone explains, twice over
Quality quality(const Ran& actual, const Ran& exact);

// The rule: 1 - 2 (1 - pcc) of the worst that was measured, rounded down to five digits, never below 0.99: an operator
// that does not reach that fails. atol: twice what was measured, rounded up to two digits.
inline constexpr double kLeastPcc = 0.99;
Expected expect(const std::vector<Quality>& measured, const std::vector<TensorSpec>& outputs);
// "" it keeps to it; else what it misses: "PCC 0.412 < 0.9991".
std::string misses(const Quality& quality, const Expected& expected);

// Measured on some seeds, tested on others that it was not set from.
struct UnitTest {
  Expected expected;
  std::vector<Quality> measured, tested;
  std::string trouble;  // "" it passed
};
UnitTest test_unit(const Function& function, Device& device, const ParameterSet& set, int seeds,
                   const std::function<bool()>& stop = {});

}  // namespace opwright::fuse

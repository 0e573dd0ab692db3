// Negative controls: the test with one thing made wrong on the device must fail. One that still passes is vacuous: it
// would not notice the mistake in a real kernel either.
#pragma once

#include <string>
#include <vector>

#include "fuse/function.h"
#include "fuse/quality.h"

namespace opwright::fuse {

struct Control {
  std::string name;     // "argument_changed", "operator_dropped", "order_swapped", "weights_permuted", "shard_shifted"
  std::string what;     // "multiply: input_tensor_a_activations without SILU"
  std::string noticed;  // what the test said; "" it passed, or the control was skipped
  std::string skipped;  // why there is nothing to make wrong; "" it was made
  bool is_vacuous() const { return skipped.empty() && noticed.empty(); }
};

// Runs each of them. `set` has its expectation.
std::vector<Control> run_controls(const FusedTest& test, const ParameterSet& set, Device& device, std::uint64_t seed);

}  // namespace opwright::fuse

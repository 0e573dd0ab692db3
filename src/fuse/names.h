// Names for what crosses the boundary of a function: words that a person would have chosen, from operators and
// parameters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuse/fused_test.h"

namespace opwright::fuse {

// Names of inputs and outputs that have none yet, out of the calls of the first parameter set. The same test gives the
// same names, and each name is there once.
void give_names(FusedTest& test);

// A proposal for a function of these calls: "linear_multiply_linear", "gated_mlp" where the sequence is a known one.
std::string name_proposal(const std::vector<std::string>& ops);

// Text as a name that Python takes: letters, digits and _; "" where nothing of it is left.
std::string as_name(std::string_view text);

}  // namespace opwright::fuse

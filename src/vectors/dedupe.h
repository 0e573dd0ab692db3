// Vectors that are one test although traces recorded them in different ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vectors/test_vector.h"

namespace opwright::vectors {

// What a call computes on: operation, tensors and every parameter under its name, whichever era or form recorded it.
// Operators that we do not know, and calls that do not bind, have only their own key: they are never merged.
std::string inputs_text(const OpConfig& config);

// Merges vectors with equal inputs, suite and group; of equals a valid one stays, then one of Python's, then the
// smallest key. Calls add up, models and sources are united. Returns how many went away.
std::int64_t merge_equal_inputs(std::vector<TestVector>& vectors);

}  // namespace opwright::vectors

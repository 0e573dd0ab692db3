// A fused test as Python writes it: names of variables, calls, and for each parameter set the tensors and the arguments
// that are not the same in all of them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fuse/fused_test.h"
#include "gentest/python_expression.h"

namespace opwright::fuse {

// What stands in the parameter table for one set.
struct SpelledSet {
  std::vector<std::pair<std::string, gentest::Python>> inputs, outputs;  // Tensor(…), by name
  std::vector<std::pair<std::string, gentest::Python>> differing;        // by the name that calls know it by
};

struct SpelledTest {
  std::vector<std::string> device_lines;     // of N_ttnn, without indent
  std::vector<std::string> reference_lines;  // of N_reference
  std::string device_returns, reference_returns;
  std::vector<SpelledSet> sets;
  std::vector<std::pair<std::string, gentest::Python>> constants;  // long values with a name of their own
  std::set<std::string> parts;                                     // of the template that the text mentions
};

// Fails where a call, a tensor or a reference cannot be written, and says which.
Result<SpelledTest> spell(const FusedTest& test);

}  // namespace opwright::fuse

// Inputs and outputs of a fused test as its parameter table writes them: `Tensor((1, 1, 32, 512), ttnn.bfloat16)`.
#pragma once

#include <string>

#include "base/result.h"
#include "fuse/fused_test.h"
#include "gentest/python_expression.h"

namespace opwright::fuse {

struct SpelledTensor {
  gentest::Python text;
  std::string fill;  // the function of the template that makes its values; "" plain numbers
};
Result<SpelledTensor> spell_input(const FusedTest& test, const ParameterSet& set, std::size_t input);
Result<SpelledTensor> spell_output(const FusedTest& test, const ParameterSet& set, std::size_t output);

// The input whose memory an output has: written in place, or a view. Nothing: it has its own.
std::optional<std::size_t> input_of(const FusedTest& test, const Source& source);

}  // namespace opwright::fuse

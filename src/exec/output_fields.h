// What two sides say of one output, field by field, in one text each: expectation against answer, device against
// device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright {

// Data laid out for the library's own use (`own_form` among its fields: prepared weights): its rows and its padding are
// the library's business, so that its spec is compared, its padded shape and its numbers are not.
bool has_own_form(const OutputSpec& output);

struct FieldTexts {
  std::string name;  // "shape", "padded_shape", "dtype", "layout", "storage", "memory"
  std::string first;
  std::string second;
};

std::vector<FieldTexts> output_fields(const OutputSpec& first, const OutputSpec& second);

// "output 0 memory: inferred memory(…), device memory(…)" for each field that differs, and for a different number.
std::vector<std::string> output_differences(const std::vector<OutputSpec>& first, const std::vector<OutputSpec>& second,
                                            std::string_view first_name, std::string_view second_name);

}  // namespace opwright

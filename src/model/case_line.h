// A case as one line that a person can read, a shell can take and a parser can read back.
//   ttnn.add(input_tensor_a=tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)),…)
// Python calls have dots, era-1 calls (C++ arguments) are written `ttnn::add(arg0=…)`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/data_recipe.h"
#include "model/op_config.h"

namespace opwright {

std::string case_line(const OpConfig& config);
Result<OpConfig> parse_case(std::string_view line);

// "opwright run --case '…' --device sim:n300 --seed 7"
std::string repeat_command(std::string_view line, std::string_view device, const DataRecipe& recipe);

}  // namespace opwright

// The exact result of a case, as its operator's reference computes it: inputs and outputs in double precision, for
// whoever wants to hold the reference against something else (tests/reference).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/data_recipe.h"

namespace opwright::jobs {

struct ExactRequest {
  std::string line;   // the case
  DataRecipe recipe;  // of its inputs
  std::string board = "n150";
  std::map<std::int64_t, std::vector<double>> given;  // by place among the tensors: values instead of the recipe's
  std::string
      folder;  // where the inputs go as .npy files, in elements of their dtype, instead of all values in the answer
};

// {"case": …, "data": "normal", "seed": "1", "board": "n150", "inputs": {"0": hex}, "save_inputs": FOLDER}; all but the
// case may be missing.
Result<ExactRequest> parse_exact_request(std::string_view line);

// One JSON object: `inputs` and `outputs`, each with its spec and `values` (float64, little-endian, hexadecimal), or
// `outcome` and `reason` where the call is refused. With a folder: `inputs` alone, each with its spec and `file`;
// nothing is computed, and an operator without a reference has inputs, too.
Result<std::string> exact_result(const ExactRequest& request);

}  // namespace opwright::jobs

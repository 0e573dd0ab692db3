// Ids of tests as sources of calls: "models/x/test_x.py::TestX::test_mlp[decode-32] [HF_MODEL:org/name]".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opwright {

// Mark in `extra` of a sighting that a master told as one of the `test_ids` of an execution; an export writes it so
// again.
inline constexpr std::string_view kOfTestIds = "@of_test_ids";

// The source without the parameters of its test: "models/x/test_x.py::TestX::test_mlp [HF_MODEL:org/name]". All
// parametrisations of a test function are one source; other sources come back as they are.
std::string test_function(std::string_view source);

using ModelTags = std::vector<std::pair<std::string, std::string>>;  // HF_MODEL, LLAMA_DIR of the environment

// Whose path says nothing of the model, so that the environment does. The existing tooling tags its demo alone; all of
// models/tt_transformers takes its model from there (`all_of_it`).
bool takes_model_from_environment(std::string_view source, bool all_of_it);
// The source with these tags, those that it does not have: "… [HF_MODEL:org/name]".
std::string with_model_tags(std::string source, const ModelTags& tags);

}  // namespace opwright

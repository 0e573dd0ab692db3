// Values as the two eras of master files write them; for configurations that came from another format.
#pragma once

#include <string>

#include "base/json.h"
#include "model/observed.h"
#include "model/op_config.h"

namespace opwright::format {

// The `arguments` object of an era-2 master: tensors as {"type": "ttnn.Tensor", …}, enums as {"type", "repr"}.
std::string era2_arguments(const OpConfig& config);
// The `arguments` array of an era-1 master: {"arg0": {"Tensor": {…}}}, scalars as strings. An argument of a graph that
// these objects cannot say stays the text that `form`, the arguments as the trace had them, has.
std::string era1_arguments(const OpConfig& config, FormKind kind, const json::Node& form);

}  // namespace opwright::format

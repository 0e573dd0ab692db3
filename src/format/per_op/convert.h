// One per-op record as the `arguments` object of an era-2 master, in the form that the existing tracer gives it, so
// that a folder and the master made from it hold the same configurations with the same hashes.
#pragma once

#include <string>

#include "base/json.h"
#include "format/argument_tree.h"

namespace opwright::format {

// `record` has "args" and "kwargs" and outlives what is made of it. Returns an empty string, or what is wrong.
std::string convert_record(const json::Node& record, ArgumentTree& tree, CallArguments& converted);

}  // namespace opwright::format

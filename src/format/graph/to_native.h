// The Python record of a graph capture as a native trace: its calls in their order, with the tensors that it names.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"

namespace opwright::format {

// `records`: [{"name", "arguments": {"dtype": text, "0": text}, "input_tensor_ids", "output_tensor_ids"}, …]. Of a
// result the record says the id alone: its spec is that of the first call that uses it, or stays unknown.
Result<Conversion> python_io_to_native(const json::Node& records, std::string_view uid, TraceOutput& output);

}  // namespace opwright::format

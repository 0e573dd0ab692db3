// Op JSONL as a native trace.
#pragma once

#include "base/input.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"

namespace opwright::format {

Result<Conversion> jsonl_to_native(Input& input, TraceOutput& output);

}  // namespace opwright::format

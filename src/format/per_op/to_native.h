// A folder of per-op files, or a single one, as a native trace.
#pragma once

#include <string>

#include "base/result.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"

namespace opwright::format {

// Calls keep their numbers and times, tests their outcomes; the trace has the uid that an import of the folder gives
// it, so both count as one.
Result<Conversion> per_op_to_native(const std::string& path, TraceOutput& output);

}  // namespace opwright::format

// A native trace as a folder of per-op files, laid out as the library's tracer and the existing pytest plugin do.
#pragma once

#include <string>

#include "base/result.h"
#include "format/conversion.h"
#include "format/native/native_trace.h"

namespace opwright::format {

// The folder is there whole or not at all; one that has something in it already is left alone.
Result<Conversion> native_to_per_op(NativeTrace& trace, const std::string& folder);

}  // namespace opwright::format

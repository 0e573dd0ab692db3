// A native trace as a folder of per-op files, laid out as the library's tracer and the existing pytest plugin do.
#pragma once

#include <string>

#include "base/result.h"
#include "format/conversion.h"
#include "format/native/native_trace.h"

namespace opwright::format {

struct PerOpOptions {
  // Only calls that the library's own tracer sees, under its numbers: without methods of tensors.
  bool like_existing = false;
};

// The folder is there whole or not at all; one that has something in it already is left alone.
Result<Conversion> native_to_per_op(NativeTrace& trace, const std::string& folder, PerOpOptions options = {});

}  // namespace opwright::format

// A native trace as JSON: one document, or one object a line (docs/formats/json-output.md).
#pragma once

#include <cstddef>
#include <ostream>

#include "format/native/call_filter.h"
#include "format/native/native_trace.h"

namespace opwright::cli {

void dump_json(format::NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, bool lines,
               std::ostream& out);

}  // namespace opwright::cli

// A native trace as op JSONL, one call a line, as the op-capture plugin writes it (docs/formats/jsonl.md).
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "format/conversion.h"
#include "format/native/native_trace.h"

namespace opwright::format {

// Calls come in the order in which they ended. `write` gets whole lines.
Result<Conversion> native_to_jsonl(NativeTrace& trace, const std::function<Status(std::string_view)>& write);

}  // namespace opwright::format

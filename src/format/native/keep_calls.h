// A native trace on its way into a store: what is said of it, and its bytes as they are kept.
#pragma once

#include <string>

#include "format/native/native_trace.h"
#include "format/trace_sink.h"

namespace opwright::format {

// Hands the calls of the trace to the sink, where it wants them. A trace without calls has no order to keep.
Status keep_calls(NativeTrace& trace, TraceSink& sink);

// What is said of it; its digest and size are those of kept_bytes().
Sequence sequence_of(NativeTrace& trace);

// The bytes without space that was reserved and never used, and without secrets in its facts, which older recorders
// wrote down. `room` holds them where they differ from the file's.
std::string_view kept_bytes(NativeTrace& trace, std::string& room);

}  // namespace opwright::format

// The calls of a native trace in order, for people and for programs: what `dump` says of a file and `calls` of a trace
// that is in the store.
#pragma once

#include <cstddef>

#include "cli/command.h"
#include "format/native/call_filter.h"
#include "format/native/native_trace.h"

namespace opwright::cli {

void list_calls(format::NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, CommandEnv& env);

}  // namespace opwright::cli

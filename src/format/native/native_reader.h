// Native traces for the importer. A call's arguments come straight from the value table (native_arguments.h), in the
// shape that the library's own per-op file of that call would have given them, so both are the same configurations with
// the same hashes. Calls of one configuration are counted, not made again.
#pragma once

#include <string>

#include "base/input.h"
#include "format/trace_sink.h"

namespace opwright::format {

Status read_native(Input&& input, const std::string& path, const ReadOptions& options, TraceSink& sink);

}  // namespace opwright::format

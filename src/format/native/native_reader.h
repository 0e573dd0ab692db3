// Native traces for the importer. A call becomes what the library's own per-op file of that call would have become, so
// both give the same configurations with the same hashes. Calls of one configuration are counted, not converted again.
#pragma once

#include <string>

#include "base/input.h"
#include "format/trace_sink.h"

namespace opwright::format {

Status read_native(Input&& input, const std::string& path, const ReadOptions& options, TraceSink& sink);

}  // namespace opwright::format

// Reads a trace of any supported format, seen by its content; files, folders of them, standard input ("-").
#pragma once

#include <string>

#include "format/trace_sink.h"

namespace opwright::format {

// Fails when `path` itself is missing, damaged or no trace. Inside a folder, a bad file is a loss and the rest is read.
Status read_trace(const std::string& path, const ReadOptions& options, TraceSink& sink);

}  // namespace opwright::format

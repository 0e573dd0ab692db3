// Reads a trace of any supported format, seen by its content; files, folders of them, standard input ("-").
#pragma once

#include <optional>
#include <string>

#include "base/input.h"
#include "format/trace_sink.h"

namespace opwright::format {

// Fails when `path` itself is missing, damaged or no trace. Inside a folder, a bad file is a loss and the rest is read.
Status read_trace(const std::string& path, const ReadOptions& options, TraceSink& sink);

// For who holds a lock while he reads: an input that may be waited for (a pipe, a terminal, a device) is read to its
// end now, as far as it is a trace; nothing for files and folders, which do not wait.
Result<std::optional<Input>> fetch_stream(const std::string& path);
// read_trace() of what fetch_stream() gave for `path`.
Status read_fetched(Input&& input, const std::string& path, const ReadOptions& options, TraceSink& sink);

}  // namespace opwright::format

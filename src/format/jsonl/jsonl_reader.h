// Op JSONL: one JSON object a line, {"op_name", "inputs", "kwargs", "output", "error", "test_nodeid", …}. Streams.
#pragma once

#include <string>

#include "base/input.h"
#include "format/trace_sink.h"

namespace opwright::format {

Status read_op_jsonl(Input& input, const std::string& path, TraceSink& sink);

}  // namespace opwright::format

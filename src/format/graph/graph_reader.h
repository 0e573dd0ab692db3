// Graph capture JSON: the node list of both generations, the report file around it, and a report's Python-level record.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "format/trace_sink.h"

namespace opwright::format {

// `nodes` is the array of nodes. Each function_start becomes a call: with its argument texts where it has them, else
// with its input tensors.
Status read_graph(const json::Node& nodes, std::string_view text, const std::string& path, TraceSink& sink);
// [{"name", "arguments": {kw: text, "0": text}, "input_tensor_ids", …}]
Status read_python_io(const json::Node& records, std::string_view text, const std::string& path, TraceSink& sink);

}  // namespace opwright::format

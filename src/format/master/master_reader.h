// Master JSON of both eras: {"operations": {op: {"configurations": […]}}, "metadata": {…}} and the older {"content":
// […]}.
#pragma once

#include <string_view>

#include "format/trace_sink.h"

namespace opwright::format {

// `text` needs 64 readable bytes behind its end.
Status read_master(std::string_view text, const std::string& path, TraceSink& sink);

}  // namespace opwright::format

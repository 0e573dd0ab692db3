// A store as something to import from: merging two stores is importing one into the other.
#pragma once

#include <string>

#include "base/result.h"
#include "format/trace_sink.h"

namespace opwright::cli {

Result<bool> is_store_file(const std::string& path);
Status read_store(const std::string& path, int wait_ms, format::TraceSink& sink);

}  // namespace opwright::cli

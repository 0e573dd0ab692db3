// A store as something to import from: merging two stores is importing one into the other.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "format/trace_sink.h"

namespace opwright::jobs {

// A file that is a store, or the URL of a server.
bool is_store(const std::string& path);
Status read_store(const std::string& path, int wait_ms, format::TraceSink& sink);
// The same of a damaged store: what is sound of it; `lost` is told the rest. A configuration whose occurrences are all
// damaged is kept, as seen once in a trace that is called "salvaged".
Status read_damaged_store(const std::string& path, int wait_ms, format::TraceSink& sink,
                          const std::function<void(const std::string& what)>& lost);

}  // namespace opwright::jobs

// Which files of a folder are native traces.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::jobs {

// The native traces that `path` means: a file, or those of a folder (one a process), in the order of their names.
Result<std::vector<std::string>> native_traces_at(const std::string& path);

}  // namespace opwright::jobs

// Case lines by their short names (model/case_name.h).
#pragma once

#include <string>

#include "base/result.h"

namespace opwright::jobs {

// A name: the case line of the configuration of the store, or of the results in it, that it stands for. Anything else:
// itself.
Result<std::string> case_line_of(const std::string& line_or_name, const std::string& store, int wait_ms);

}  // namespace opwright::jobs

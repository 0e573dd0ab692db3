// What a device program says that it executed: a native trace of one call, read back as any trace is.
#pragma once

#include <string>

#include "base/result.h"
#include "model/op_config.h"

namespace opwright {

// The call of operation `op` in the file (its last one). Fails when the file holds none, naming what it holds instead.
Result<OpConfig> read_executed(const std::string& path, const std::string& op);

}  // namespace opwright

// What a device program says that it executed: a native trace of one call, read back as any trace is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/op_config.h"

namespace opwright {

// The call of operation `op` in the bytes of a trace file (its last one). Fails when there is none, naming what there
// is instead.
Result<OpConfig> read_executed(std::string_view trace, const std::string& op);

}  // namespace opwright

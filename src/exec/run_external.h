// run_case for devices that are programs (device/external): they get the call as it was recorded, also of operators
// that nobody here knows, and what our own rules predict is compared with what they say.
#pragma once

#include "exec/run_case.h"

namespace opwright {

CaseResult run_external(const OpConfig& config, Device& device, const RunOptions& options);

}  // namespace opwright

// run_case for devices that are programs (device/external): they get the call as it was recorded, also of operators
// that nobody here knows, and what our own rules predict is compared with what they say.
#pragma once

#include "exec/run_case.h"

namespace opwright {

// `given`: data that the caller has instead of the recipe's, one for each tensor of the planned call, or of the
// recorded one where nothing is known of it; null none.
CaseResult run_external(const OpConfig& config, Device& device, const RunOptions& options,
                        const std::vector<HostTensor>* given = nullptr);

// The same call, with the same data, timed. Refused where it cannot be made, or the device does not time it so.
Checked<TimedRun> time_external(const OpConfig& config, Device& device, const RunOptions& options,
                                const TimingOrder& order, const std::vector<HostTensor>* given = nullptr);

// The library's golden function, asked as if it was a device and judged against our reference: a second reference that
// nobody here wrote. Unsupported where the library, or we, have none.
CaseResult run_golden(const OpConfig& config, Device& device, const RunOptions& options);

}  // namespace opwright

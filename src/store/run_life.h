// Whether a run that says it is running still runs: its process may have been killed, which nobody could write down.
#pragma once

#include <string>

#include "model/case_record.h"

namespace opwright::store {

// The field of RunRecord::facts that says which process runs it (base/process_identity.h).
inline constexpr const char* kProcessFact = "process";

// The status as it is now: `running` becomes `interrupted` when the process is gone, and `unknown` when it belongs to
// another machine or container. Runs of older stores name no process: host and uid, which ends with its number, tell.
std::string status_now(const RunRecord& run);

}  // namespace opwright::store

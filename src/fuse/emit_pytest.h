// The files that people read of an emitted test: `test_N.py`, which needs pytest, torch and ttnn and nothing of ours,
// and the README.md beside it. The same test gives the same bytes.
//
//   OPWRIGHT_TRY_ASSIGN(const std::string text, emit_pytest(test));
#pragma once

#include <string>

#include "base/result.h"
#include "fuse/fused_test.h"

namespace opwright::fuse {

// Fails where a call, a tensor or an exact result cannot be written, and says which.
Result<std::string> emit_pytest(const FusedTest& test);
std::string emit_readme(const FusedTest& test);

// The variable that test_N.py sets while it runs under the profiler: "GATED_MLP_DEVICE_PERF".
std::string device_perf_variable(const FusedTest& test);

}  // namespace opwright::fuse

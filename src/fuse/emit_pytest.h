// The files that people read of an emitted test: `test_N.py`, which needs pytest, torch and ttnn and nothing of ours,
// and the README.md beside it. The same test gives the same bytes.
#pragma once

#include <string>

#include "base/result.h"
#include "fuse/fused_test.h"

namespace opwright::fuse {

// Fails where a call, a tensor or an exact result cannot be written, and says which.
Result<std::string> emit_pytest(const FusedTest& test);
std::string emit_readme(const FusedTest& test);

}  // namespace opwright::fuse

// What people and programs take away from `fuse make`: the test, its parameters, its calls as case lines, contents.
#pragma once

#include "base/result.h"
#include "format/native/native_trace.h"
#include "fuse/fused_test.h"
#include "jobs/fuse_folder.h"

namespace opwright::jobs {

// `contents`: the trace with the recorded contents of weights, which go into data/; null: none do.
Status write_fused_test(FuseFolder& folder, const fuse::FusedTest& test, format::NativeTrace* contents);

}  // namespace opwright::jobs

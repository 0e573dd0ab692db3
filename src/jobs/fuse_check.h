// `fuse check` and `fuse list`: tests that were made, beside a new trace, and as a table.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fuse/drift.h"
#include "fuse/fused_test.h"

namespace opwright::jobs {

struct FuseChecked {
  fuse::FusedTest test;
  fuse::DriftReport drift;
};
// The description of a test against what a trace has now. Needs no device.
Result<FuseChecked> check_fused(const std::string& params, const std::string& trace, const std::string& store,
                                int wait_ms);

// One parameter set of one test in a folder, as it was last run.
struct FuseListed {
  std::string test, set, mode;
  std::int64_t seq_len = 0;
  std::string folder;
  double pcc = 0, atol = 0;                        // 0: not measured
  double device_us = 0, roofline_us = 0;           // separate kernels, and at best
  std::string single_device;                       // "yes", or why not
  std::string weights;                             // "recorded", "random"
  std::string unit, substitute, config, negative;  // status of the last run; "" none
  bool failed = false;
};
struct FuseList {
  std::vector<FuseListed> rows;
  std::vector<std::string> unreadable;  // files that are no description of a test, with what is wrong
};
// All tests below a folder, by name.
Result<FuseList> list_fused(const std::string& folder);

}  // namespace opwright::jobs

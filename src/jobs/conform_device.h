// A device beside recorded ground truth.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exec/conform.h"
#include "jobs/device_program.h"

namespace opwright::jobs {

struct ConformOptions {
  std::string device = "sim";
  ProgramSettings program;         // where the device is one
  std::vector<std::string> files;  // of recorded cases
  std::vector<std::string> ops;    // only these; none: all
};

Result<ConformReport> conform_device(const ConformOptions& options);

}  // namespace opwright::jobs

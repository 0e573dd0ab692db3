// `perf FILE --to FORMAT`: a window for other tools, or as a page.
#pragma once

#include "cli/command.h"
#include "jobs/perf_report.h"

namespace opwright::cli {

Result<int> export_perf(const ParsedArgs& args, jobs::PerfRequest request, CommandEnv& env);

}  // namespace opwright::cli

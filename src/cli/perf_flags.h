// How cases and calls are to be timed: the flags that begin with --perf.
#pragma once

#include <optional>

#include "cli/command.h"
#include "model/perf.h"

namespace opwright::cli {

inline constexpr Flag kPerfIterationsFlag{"--perf-iterations", "W+N",
                                          "--perf: warm-up and measured iterations, from call to end (default 10+100)"};
inline constexpr Flag kPerfDeviceIterationsFlag{"--perf-device-iterations", "W+N",
                                                "--perf: those of the chip's own time (default 10+10)"};
inline constexpr Flag kPerfTraceFlag{"--perf-trace", "", "--perf: replay a trace of the device instead of calling"};
inline constexpr Flag kPerfCacheFlag{"--perf-no-program-cache", "", "--perf: without the device's program cache"};
inline constexpr Flag kPerfForceFlag{"--perf-force", "",
                                     "--perf: also on a machine that is too busy; the results say so"};

// Nothing without --perf; the others without it are wrong usage.
Result<std::optional<PerfPlan>> perf_plan_of(const ParsedArgs& args);

}  // namespace opwright::cli

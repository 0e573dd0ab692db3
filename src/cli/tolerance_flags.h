// Flags that say how many cases may be no pass, for `run` and `results`.
#pragma once

#include "cli/command.h"
#include "jobs/ending.h"

namespace opwright::cli {

inline constexpr Flag kMaxFailedFlag{"--max-failed", "N", "exit code 0 although so many cases failed (default 0)"};
inline constexpr Flag kMaxUnprovenFlag{
    "--max-unproven", "N", "exit code 1 where more cases are unproven or mistrusted (default: any number may be)"};
inline constexpr Flag kStrictVerdictsFlag{
    "--strict-verdicts", "", "a case that is unproven or mistrusted is a failure: exit code 1, and so in JUnit files"};

Result<jobs::Tolerance> tolerance_of(const ParsedArgs& args);
bool has_tolerance(const ParsedArgs& args);  // one was asked for

}  // namespace opwright::cli

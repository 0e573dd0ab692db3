// What configurations cost in a real run, told in four places: `perf --configs`, `show`, `results` and `run --budget`.
#pragma once

#include <optional>

#include "cli/command.h"
#include "jobs/look_at_results.h"
#include "jobs/profile_match.h"

namespace opwright::cli {

inline constexpr Flag kProfileFlag{"--profile", "FILE",
                                   "a profiler report of the same model: what configurations cost in it"};
inline constexpr Flag kProfileWindowFlag{"--profile-window", "NAME", "--profile: this window of it"};

// Nothing without --profile.
Result<std::optional<jobs::PerfRequest>> profile_of(const ParsedArgs& args);

// `perf --configs`, `perf --unmatched`.
Result<int> print_matches(jobs::ProfileMatch match, bool unmatched_only, CommandEnv& env);

// `results --profile`: which part of the time the cases of a run stand for, and how those ended.
Result<int> print_explained(const jobs::RunResults& results, const jobs::PerfRequest& profile,
                            const jobs::Question& question, CommandEnv& env);

}  // namespace opwright::cli

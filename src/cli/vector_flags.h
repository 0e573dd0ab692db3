// The flags that say which test vectors a command is about, for `vectors` and `run`.
#pragma once

#include "cli/command.h"
#include "vectors/suites.h"

namespace opwright::cli {

inline constexpr Flag kSuiteFlag{"--suite", "NAME",
                                 "model_traced (default: exactly the recorded configurations), all_cases (every "
                                 "combination of recorded values), sample; with --suites one of the file"};
inline constexpr Flag kSuitesFlag{"--suites", "FILE.yaml", "suites of one's own (docs/formats/vectors.md)"};
inline constexpr Flag kOpFlag{"--op", "OP", "only this operation; may be repeated", true};
inline constexpr Flag kLimitFlag{"--limit", "N", "the largest product that all_cases may make (default 100000)"};
inline constexpr Flag kCountFlag{"--count", "N", "sample: how many (default 100)"};
inline constexpr Flag kRandomizeFlag{"--randomize", "SEED", "shuffle the order"};
inline constexpr Flag kDedupeFlag{"--dedupe", "", "merge vectors with the same inputs and parameters"};

Result<vectors::SuiteOptions> suite_options_of(const ParsedArgs& args);

// The vectors of --vectors, --suites or the store, in their order.
Status for_each_vector_of(const ParsedArgs& args, CommandEnv& env, const vectors::UseVector& use);

}  // namespace opwright::cli

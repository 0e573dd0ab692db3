// The parts of `results`, each on its own.
#pragma once

#include "cli/command.h"
#include "jobs/look_at_results.h"

namespace opwright::cli {

// Every run of the store: when, where, how it stands.
Result<int> list_runs(const jobs::ResultsQuestion& question, CommandEnv& env);
// One line a result, printed as it is read. Exit code 1 where one failed.
Result<int> list_results(const report::ResultStream& results, CommandEnv& env);
// One row an operator, dtype, …
void print_groups(const report::Analysis& analysis, report::By by, CommandEnv& env);

// Times of a run with --perf, one row a case.
Result<int> list_times(const jobs::RunResults& results, CommandEnv& env);
// … of two runs, case by case. Exit code 1 where one is slower.
Result<int> diff_times(const ParsedArgs& args, const jobs::ResultsQuestion& question, CommandEnv& env);
// One case over all runs of the store.
Result<int> show_history(const std::string& wanted, const jobs::ResultsQuestion& question, CommandEnv& env);

// "csv:FILE", "junit:FILE", "jsonl:FILE", "sweep:FOLDER"
// `is_strict`: what is not proven fails in JUnit files.
Result<int> export_results(const std::vector<std::string>& targets, const jobs::RunResults& results, bool is_strict,
                           CommandEnv& env);
// Files of `--export jsonl`: runs of other machines, or of this one again. What is there already is not changed.
Result<int> import_results(const std::vector<std::string>& files, int wait_ms, CommandEnv& env);

}  // namespace opwright::cli

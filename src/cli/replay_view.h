// What is told of a replay: a row a call as it comes, and the whole at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "jobs/replay_trace.h"

namespace opwright::cli {

class ReplayView {
 public:
  // `trace`, `flags`: for the commands that repeat a call.
  ReplayView(std::string trace, std::string flags, CommandEnv& env);

  void step(const replay::Step& step);
  void end(const jobs::ReplayOutcome& outcome);

 private:
  std::string repeat(const replay::Step& step) const;
  void count_times(const CasePerf& perf);
  void print_summary(const jobs::ReplayOutcome& outcome);

  std::string trace_, flags_;
  CommandEnv& env_;
  Table table_;
  std::vector<std::string> sequence_;       // objects, for json
  std::vector<double> local_, global_;      // errors over the sequence, for the plot
  std::vector<replay::Step> failed_;        // the first of them
  std::map<std::string, std::string> why_;  // word -> an example, of calls that gave no answer
  bool has_recorded_ = false;               // the trace has something of a result
  bool has_global_ = false;                 // the chain has something of one
  struct {
    std::int64_t calls = 0;
    double device_ns = 0, whole_ns = 0;            // sums of medians
    std::map<std::string, std::int64_t> refusals;  // why a call has none -> calls
  } times_;
};

// Errors over a sequence, the worst of each column: from 1e-7 (lowest) to 1 (highest), on one line of `width`.
std::string error_plot(const std::vector<double>& errors, std::size_t width);

}  // namespace opwright::cli

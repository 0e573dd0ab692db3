// From failing cases to the smallest that fail in the same way: a case line, or the failures of a run, one of each
// cause.
//
//   ShrinkRequest request{.line = "ttnn.matmul(…)", .choice = {.device = "sim:n300"}};
//   Result<ShrinkReport> report = shrink_failures(request);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/run_choice.h"
#include "model/case_record.h"
#include "report/result_filter.h"
#include "shrink/failure.h"
#include "shrink/shrink_case.h"

namespace opwright::jobs {

struct ShrinkRequest {
  std::string line;                // the case; "" failures of a run
  std::vector<std::string> after;  // lines of cases that run before it in its process, in their order

  std::string store;
  int wait_ms = 60'000;
  std::string run = "last";
  std::string case_id;          // the beginning of a vector's id or of a configuration's key, "@" before it or not
  report::ResultFilter filter;  // of the run's failures
  std::size_t causes = 10;      // at most so many
  bool new_only = false;        // of a run: causes that no earlier run of the store has

  RunChoice choice;  // device, second device, data, judge, time; and `where`. Of a run: what is not given is the run's
  shrink::Budget budget;
  std::vector<std::string> worker{"/proc/self/exe", "worker"};
};

struct ShrunkFailure {
  enum class End : std::uint8_t {
    kShrunk,
    kDoesNotFail,  // it passed
    kFlaky,        // now so, now so
    kNotRun,       // no answer to shrink: `why`
  } end = End::kNotRun;
  std::string why;

  std::string given;   // the case line, as it was found
  std::string vector;  // of a run: the id of its case
  std::string device;
  std::int64_t alike = 1;  // failures of the run with this cause
  shrink::FailureKind kind;
  CaseRecord record;  // of the smallest case

  std::string smallest;             // the case line
  std::vector<std::string> before;  // cases that must run before it
  DataRecipe recipe;
  std::string repeat;  // the command
  std::vector<shrink::Needed> needs;
  std::map<std::string, shrink::Trials::Count, std::less<>> tried;
  std::int64_t trials = 0, cached = 0;
  double seconds = 0;
  bool spent = false;  // the budget ended it: it may become smaller
};
// "fails only if input_tensor_a[-1] > 2048 and input_tensor_b.dtype = BFLOAT8_B"
std::string needs_text(const ShrunkFailure& failure);

// A cause that is left alone, because an earlier run has it too.
struct KnownCause {
  shrink::FailureKind kind;
  std::string run;  // the latest of them
};

struct ShrinkReport {
  std::string run;  // uid; "" of a case line
  std::vector<ShrunkFailure> failures;
  std::vector<KnownCause> known;
  std::int64_t more = 0;  // causes beyond those asked for, or beyond the budget
  bool interrupted = false;
};

struct ShrinkWatcher {
  std::function<void(const std::string& line, std::int64_t trials)> trial;  // one begins
  std::function<int()> stop;                                                // how often a stop was asked for
};

// A line that is none, a run without failures, a device that does not start: an error. A case that does not fail is
// none.
Result<ShrinkReport> shrink_failures(const ShrinkRequest& request, const ShrinkWatcher& watcher = {});

}  // namespace opwright::jobs

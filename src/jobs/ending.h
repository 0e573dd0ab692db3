// How a piece of work ended, in one word: the exit status of a program, the answer of a server. All rules are here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "exec/conform.h"
#include "jobs/check_hashes.h"
#include "jobs/diff_configs.h"
#include "jobs/ingest.h"
#include "jobs/replay_trace.h"
#include "jobs/run_single.h"
#include "jobs/run_suite.h"
#include "jobs/salvage_store.h"
#include "jobs/shrink_failure.h"
#include "report/analysis.h"
#include "report/run_diff.h"

namespace opwright::jobs {

enum class Ending : std::uint8_t {
  kWell,
  kDifference,   // it was done, and something differs or failed
  kUsage,        // it makes no sense as it was asked for
  kFailed,       // it could not be done
  kInterrupted,  // somebody stopped it
};

// Exit statuses of every verb; that of Ctrl-C is the shell's own.
inline constexpr std::array<int, 5> kExitCodes{0, 1, 2, 3, 130};
constexpr int exit_code(Ending ending) { return kExitCodes[static_cast<std::size_t>(ending)]; }

// How many cases of a run may be no pass, and it still ends well.
struct Tolerance {
  std::int64_t failed = 0;
  std::optional<std::int64_t> unproven;  // unproven and mistrusted ones; nothing: any number
};
// What goes beyond it: "3 cases failed, 0 are allowed"; "" nothing.
std::string beyond(const report::Analysis& analysis, const Tolerance& tolerance);

Ending ending_of(const Error& error);
Ending ending_of(const ImportReport& report);  // what was read is in the store, or need not be
// Nothing failed beyond what is tolerated, devices agree, and something was passed or accepted.
Ending ending_of(const RunReport& report, const Tolerance& tolerance = {});
Ending ending_of(const SingleReport& report);    // passed or accepted, and a second opinion agrees
Ending ending_of(const ReplayOutcome& outcome);  // calls were run, and none failed its local judgement
// Of a run that is looked at again: nothing failed.
Ending ending_of(const report::Analysis& asked, const Tolerance& tolerance = {});
Ending ending_of(const report::RunDiff& diff);  // nothing fails that did not before
Ending ending_of(const ConfigsDiff& diff);      // both have the same configurations
Ending ending_of(const HashReport& report);     // every hash is explained
Ending ending_of(const ShrinkReport& report);   // every failure was made smaller
Ending ending_of(const SalvageReport& report);  // all of the store was saved
Ending ending_of(const ConformReport& report);  // the device agrees with the ground truth

}  // namespace opwright::jobs

#include "jobs/ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"

namespace opwright::jobs {
namespace {

Ending well_if(bool well) { return well ? Ending::kWell : Ending::kDifference; }

}  // namespace

std::string beyond(const report::Analysis& analysis, const Tolerance& tolerance) {
  std::string text;
  const auto say = [&](std::int64_t count, std::string_view what, std::int64_t allowed) {
    if (count > allowed)
      text +=
          fmt::format("{}{} {}, {} allowed", text.empty() ? "" : "; ", plural(count, "case"), what, grouped(allowed));
  };
  say(analysis.failed, "failed", tolerance.failed);
  if (tolerance.unproven) say(report::unproven_of(analysis), "not proven", *tolerance.unproven);
  return text;
}

Ending ending_of(const Error& error) { return error.code == ErrorCode::kUsage ? Ending::kUsage : Ending::kFailed; }

Ending ending_of(const ImportReport& report) {
  return report.stopped ? Ending::kInterrupted : report.refused ? Ending::kFailed : Ending::kWell;
}

Ending ending_of(const RunReport& report, const Tolerance& tolerance) {
  switch (report.end) {
    case RunReport::End::kNothingToResume:
    case RunReport::End::kPlanned:
      return Ending::kWell;
    case RunReport::End::kNotBegun:
      return Ending::kInterrupted;
    case RunReport::End::kRan:
      break;
  }
  if (report.ran.interrupted) return Ending::kInterrupted;
  const report::Analysis& analysis = report.analysis;
  const bool something = analysis.passed > 0 || analysis.undecided > 0;
  return well_if(beyond(analysis, tolerance).empty() && analysis.disagreed == 0 && something);
}

Ending ending_of(const SingleReport& report) {
  const Outcome outcome = report.result.outcome;
  return well_if((outcome == Outcome::kPassed || outcome == Outcome::kAccepted) && report.record.disagreement.empty());
}

Ending ending_of(const ReplayOutcome& outcome) {
  const replay::Report& report = outcome.report;
  if (report.stopped) return Ending::kInterrupted;
  if (report.failed > 0) return Ending::kDifference;
  return report.replayed > 0 ? Ending::kWell : Ending::kFailed;
}

Ending ending_of(const report::Analysis& asked, const Tolerance& tolerance) {
  return well_if(beyond(asked, tolerance).empty());
}
Ending ending_of(const report::RunDiff& diff) { return well_if(!diff.has_new_failure()); }
Ending ending_of(const ConfigsDiff& diff) { return well_if(diff.equal()); }
Ending ending_of(const HashReport& report) { return well_if(report.mismatches.empty()); }
Ending ending_of(const ShrinkReport& report) {
  if (report.interrupted) return Ending::kInterrupted;
  const bool all = std::ranges::all_of(
      report.failures, [](const ShrunkFailure& failure) { return failure.end == ShrunkFailure::End::kShrunk; });
  return all ? Ending::kWell : Ending::kFailed;
}
Ending ending_of(const SalvageReport& report) { return well_if(report.lost.empty()); }
Ending ending_of(const ConformReport& report) { return well_if(report.disagreements.empty()); }

}  // namespace opwright::jobs

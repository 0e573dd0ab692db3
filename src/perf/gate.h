// A report against its targets. What passes is proven: a target that is missing, a figure that is missing and a report
// that lacks rows fail, each under its own name.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/json_object.h"
#include "perf/targets.h"

namespace opwright::perf {

using Figures = std::map<std::string, double, std::less<>>;

// Figures that every window must have a target for.
inline constexpr std::array<std::string_view, 2> kRequiredFigures{"kernel_ns", "op_to_op_ns"};

struct GateFigures {
  std::string window;
  std::int64_t positions = 0;
  Figures totals;                                   // an iteration; only what there is
  std::map<std::string, Figures, std::less<>> ops;  // each summed over an iteration
  bool complete = true;
};
GateFigures figures_of(const Report& report, Statistic statistic);
// By one of the rules of perf/like.h: totals and means as that rule gives them.
GateFigures figures_of(const LikeResult& result, const Window& window);

enum class GateOutcome : std::uint8_t {
  kPassed,
  kTooHigh,
  kTooLow,         // below a two-sided margin: faster than believed, so the target is out of date
  kTargetMissing,  // the report has a figure that nobody gave a target for
  kFigureMissing,  // a target for what the report does not have
  kIncomplete,     // rows or devices without a time: the figures are of less than what ran
  kOtherSequence,  // another number of positions than the targets were made for
  kUnchecked,      // somebody said so
};
std::string_view name_of(GateOutcome outcome);  // "too_high"
bool is_failure(GateOutcome outcome);

struct GateCheck {
  std::string window, op, figure;  // op "": of the window
  double value = kNoFigure;
  Target target;
  GateOutcome outcome = GateOutcome::kPassed;
};

std::vector<GateCheck> check_window(const GateFigures& figures, const WindowTargets& targets, bool ignore_missing,
                                    bool ignore_incomplete);
JsonObject gate_json(const std::string& file, const std::string& targets, const std::vector<GateCheck>& checks);

}  // namespace opwright::perf

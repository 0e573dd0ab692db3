// What a report must keep to: targets with margins, read from JSON or YAML (docs/formats/perf-targets.md), and written
// from a report as its baseline.
//
// Nothing is taken for granted: an unknown name, a name that stands twice and a value that is none are errors with line
// and column; a target that is not there fails (perf/gate.h), unless the file or the caller says that it need not be.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/like.h"
#include "perf/report.h"

namespace opwright::perf {

enum class Sides : std::uint8_t { kAbove, kBoth };  // only more than the target fails; less fails too
enum class Statistic : std::uint8_t { kMean, kMedian, kMin };

struct Target {
  double value = kNoFigure;                   // none: there is no target
  bool unchecked = false;                     // somebody said that this is not to be checked
  double margin_percent = 10, margin_ns = 0;  // the larger one counts
  Sides sides = Sides::kAbove;

  double margin() const;
};

// Of a window or of an operation; by figure: kernel_ns, op_to_op_ns, and of windows host_ns and first_op_gap_ns too.
using FigureTargets = std::map<std::string, Target, std::less<>>;

struct WindowTargets {
  std::string window;        // as perf::choose_window takes it
  std::optional<Like> like;  // the targets were made by another rule
  std::optional<std::int64_t> positions;
  FigureTargets figures;
  std::optional<std::map<std::string, FigureTargets, std::less<>>> ops;  // by operation; its sum over an iteration
};

struct Targets {
  Statistic statistic = Statistic::kMean;
  bool ignore_missing = false, ignore_incomplete = false;
  std::vector<WindowTargets> windows;
};

Result<Targets> read_targets(const std::string& path);
Result<Targets> parse_targets(const std::string& text, const std::string& path);

// The figures of windows as targets; with `yaml` as YAML, else as JSON.
struct GateFigures;
std::string targets_text(const std::vector<GateFigures>& windows, double margin_percent, bool yaml);

std::string_view name_of(Sides sides);
std::string_view name_of(Statistic statistic);

}  // namespace opwright::perf

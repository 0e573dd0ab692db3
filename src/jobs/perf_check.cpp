#include "jobs/perf_check.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/input.h"

namespace opwright::jobs {
namespace {

Result<perf::Window> window_of(const perf::Recording& all, std::string_view name) {
  return perf::choose_window(all.windows, all.marks, all.samples.size(), all.host.size(), name, all.files.front());
}

// Reduced for one window of a recording that is asked for several; only what gates look at.
Result<perf::Reduced> reduce_window(const perf::Recording& all, const perf::Window& window,
                                    const PerfRequest& request) {
  return perf::reduce(all, window, {.iterations = request.iterations, .device = request.device});
}

}  // namespace

Result<std::vector<perf::GateCheck>> check_perf(const GateRequest& request) {
  OPWRIGHT_TRY_ASSIGN(const perf::Targets targets, perf::read_targets(request.targets));
  perf::Report report;
  OPWRIGHT_TRY_ASSIGN(report.recording,
                      perf::read_recording(request.perf.paths, {request.perf.together, request.perf.devices}));
  std::vector<const perf::WindowTargets*> chosen;
  for (const perf::WindowTargets& one : targets.windows)
    if (request.perf.window.empty() || one.window == request.perf.window) chosen.push_back(&one);
  const bool allow_missing = request.allow_missing || targets.ignore_missing;
  std::vector<perf::GateCheck> checks;
  if (chosen.empty()) {  // a window that nobody gave targets for
    OPWRIGHT_TRY_ASSIGN(const perf::Window window, window_of(report.recording, request.perf.window));
    perf::GateCheck one{window.name, "", "window"};
    one.outcome = allow_missing ? perf::GateOutcome::kUnchecked : perf::GateOutcome::kTargetMissing;
    return std::vector{one};
  }
  for (const perf::WindowTargets* one : chosen) {
    OPWRIGHT_TRY_ASSIGN(report.window, window_of(report.recording, one->window));
    perf::GateFigures figures;
    if (one->like) {
      figures = perf::figures_of(perf::add_up_like(*one->like, report.recording, report.window), report.window);
    } else {
      OPWRIGHT_TRY_ASSIGN(report.reduced, reduce_window(report.recording, report.window, request.perf));
      figures = perf::figures_of(report, targets.statistic);
    }
    for (perf::GateCheck& check :
         perf::check_window(figures, *one, allow_missing, request.allow_incomplete || targets.ignore_incomplete))
      checks.push_back(std::move(check));
  }
  return checks;
}

Result<std::vector<std::string>> write_targets(const BaselineRequest& request) {
  const auto is_there = [&]() -> Status {
    std::error_code ignored;
    if (request.replace || !std::filesystem::exists(std::filesystem::symlink_status(request.file, ignored))) return {};
    return fail(ErrorCode::kUsage,
                fmt::format("{} is there already; --replace writes over it, or name another file", request.file));
  };
  OPWRIGHT_TRY(is_there());
  OPWRIGHT_TRY_ASSIGN(perf::Recording recording,
                      perf::read_recording(request.perf.paths, {request.perf.together, request.perf.devices}));
  std::vector<perf::Window> windows;
  if (request.perf.window.empty() && recording.windows.all.size() > 1) {
    windows = recording.windows.all;
  } else {
    OPWRIGHT_TRY_ASSIGN(perf::Window one, window_of(recording, request.perf.window));
    windows.push_back(std::move(one));
  }
  std::vector<std::string> names;
  std::vector<perf::GateFigures> figures;
  perf::Report report;
  report.recording = std::move(recording);
  for (const perf::Window& window : windows) {
    report.window = window;
    OPWRIGHT_TRY_ASSIGN(report.reduced, reduce_window(report.recording, window, request.perf));
    if (report.reduced.positions.empty())
      return fail(ErrorCode::kBadInput, fmt::format("{}, window {}: no operation ran in it, so it gives no targets",
                                                    request.perf.paths.front(), window.name));
    figures.push_back(perf::figures_of(report, perf::Statistic::kMean));
    if (!figures.back().complete)
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}, window {}: rows or devices lack a time ('opwright perf' says which), so it is no "
                              "baseline",
                              request.perf.paths.front(), window.name));
    names.push_back(window.name);
  }
  const bool yaml = request.file.ends_with(".yaml") || request.file.ends_with(".yml");
  const std::string text = perf::targets_text(figures, request.margin_percent, yaml);
  OPWRIGHT_TRY(is_there());
  OPWRIGHT_TRY(write_atomically(request.file, text));
  return names;
}

}  // namespace opwright::jobs

#include "cli/replay_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/visible_text.h"
#include "exec/case_line.h"

namespace opwright::cli {
namespace {

using replay::Distance;
using replay::Part;
using replay::Step;

constexpr std::size_t kMostFailed = 20;
constexpr std::size_t kPlotWidth = 72;

std::string pcc_text(const std::optional<Distance>& distance) {
  if (!distance) return "";
  return std::isnan(distance->pcc) ? "-" : fmt::format("{:.6f}", distance->pcc);
}
std::string error_text(const std::optional<Distance>& distance) {
  return distance ? fmt::format("{:.1e}", distance->rel_rms) : "";
}

std::string distance_json(const std::optional<Distance>& distance) {
  if (!distance) return "null";
  return JsonObject()
      .add_number("pcc", distance->pcc)
      .add_number("rel_rms", distance->rel_rms)
      .add("elements", distance->elements)
      .add_bool("finite", distance->is_finite)
      .text();
}

std::string agreement_json(const std::optional<replay::Agreement>& agreement) {
  if (!agreement) return "null";
  JsonObject out;
  out.add("by", name_of(agreement->by)).add_bool("same", agreement->same).add_bool("made_up", agreement->made_up);
  if (agreement->distance) out.add_raw("distance", distance_json(agreement->distance));
  if (agreement->shift) out.add_number("shift", *agreement->shift);
  return out.text();
}

// As a person reads it in a row.
std::string agreement_text(const std::optional<replay::Agreement>& agreement) {
  if (!agreement) return "";
  const bool sketch = agreement->by == replay::Agreement::By::kSketch;
  if (agreement->made_up && !sketch) return "other inputs";
  return agreement->same ? sketch ? "alike" : "same" : sketch ? "unlike" : "differs";
}

std::string agreements_json(const replay::Report::Agreements& counts) {
  return JsonObject().add("same", counts.same).add("differ", counts.differ).text();
}

JsonObject step_json(const Step& step, const std::string& repeat) {
  std::vector<std::string> inputs;
  for (const replay::StepInput& input : step.inputs)
    inputs.push_back(JsonObject()
                         .add("param", input.param)
                         .add("tensor", static_cast<std::int64_t>(input.tensor))
                         .add("values", replay::name_of(input.origin))
                         .text());
  JsonObject object;
  object.add("call", static_cast<std::int64_t>(step.call))
      .add("operation", step.op)
      .add("op", step.op)
      .add("outcome", step.word())
      .add("reason", step.reason)
      .add_raw("local", distance_json(step.local))
      .add_raw("global", distance_json(step.global))
      .add_raw("recorded", agreement_json(step.recorded))
      .add_bool("beyond_local", step.beyond_local)
      .add_bool("beyond_global", step.beyond_global)
      .add("live_dram", step.live.dram)
      .add("live_l1", step.live.l1)
      .add_raw("inputs", json_array(inputs, true))
      .add_raw("notes", json_array(step.notes, false))
      .add("phase", step.phase)
      .add("label", step.label)
      .add_number("device_seconds", step.device_seconds)
      .add_number("reference_seconds", step.reference_seconds)
      .add("case", step.line)
      .add("repeat", repeat);
  if (step.perf) object.add_raw("perf", to_json(*step.perf));
  return object;
}

std::string number_json(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

JsonObject report_json(const std::string& trace, const jobs::ReplayOutcome& outcome,
                       const std::vector<std::string>& sequence) {
  const replay::Report& report = outcome.report;
  return JsonObject()
      .add("trace", trace)
      .add("device", outcome.device.name)
      .add("numerics", name_of(outcome.device.numerics))
      .add("calls", report.calls)
      .add("nested", report.nested)
      .add("replayed", report.replayed)
      .add("failed", report.failed)
      .add_raw("outcomes", counts_json(report.outcomes))
      .add_raw("edges", JsonObject()
                            .add("recorded", report.edges.recorded)
                            .add("inferred", report.edges.inferred)
                            .add("ambiguous", report.edges.ambiguous)
                            .add("broken", report.edges.broken)
                            .text())
      .add_raw("inputs", JsonObject()
                             .add("recorded", report.inputs.recorded)
                             .add("sketch", report.inputs.sketch)
                             .add("recipe", report.inputs.recipe)
                             .text())
      .add_raw("recorded_results", JsonObject()
                                       .add_raw("contents", agreements_json(report.contents))
                                       .add_raw("hashes", agreements_json(report.hashes))
                                       .add_raw("sketches", agreements_json(report.sketches))
                                       .add("made_up", report.made_up)
                                       .text())
      .add_raw("first_differ", number_json(report.first_differ))
      .add_raw("first_beyond", number_json(report.first_beyond))
      .add_raw("first_beyond_local", number_json(report.first_local))
      .add_raw("first_beyond_global", number_json(report.first_global))
      .add_raw("peak_bytes", JsonObject().add("dram", report.peak.dram).add("l1", report.peak.l1).text())
      .add_raw("held_bytes", JsonObject().add("values", report.held.values).add("with_chain", report.held.all).text())
      .add("stale_writes", report.stale_writes)
      .add("copied_views", report.copied_views)
      .add("not_chained", report.not_chained)
      .add("unusable_contents", report.unusable)
      .add("missing_contents", report.missing)
      .add_raw("ends_early", number_json(report.ends_early))
      .add_raw("losses", counts_json(report.losses))
      .add_bool("stopped", report.stopped)
      .add_number("seconds", report.seconds)
      .add_number("device_seconds", report.device_seconds)
      .add_number("reference_seconds", report.reference_seconds)
      .add_number("chain_seconds", report.chain_seconds)
      .add_raw("sequence", json_array(sequence, true));
}

void leave_out(Table& table, std::string_view column) {
  for (Column& one : table.columns)
    if (one.name == column) one.in_table = false;
}

bool is_shown(const Step& step) { return step.part == Part::kRun || step.part == Part::kSkipped; }

}  // namespace

std::string error_plot(const std::vector<double>& errors, std::size_t width) {
  constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kDecades = 7;
  std::string out;
  const std::size_t columns = std::min(width, errors.size());
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t begin = column * errors.size() / columns, end = (column + 1) * errors.size() / columns;
    double worst = -1;
    for (std::size_t i = begin; i < end; ++i) worst = std::max(worst, std::isnan(errors[i]) ? -1.0 : errors[i]);
    if (worst < 0) {
      out += ' ';  // nothing was compared here
      continue;
    }
    const double level = worst <= 0 ? 0 : (std::log10(std::min(worst, 1.0)) + kDecades) / kDecades * 7;
    out += kBars[static_cast<std::size_t>(std::clamp(std::lround(level), 0L, 7L))];
  }
  return out;
}

ReplayView::ReplayView(std::string trace, std::string flags, CommandEnv& env)
    : trace_(std::move(trace)), flags_(std::move(flags)), env_(env) {
  table_.columns = {{"call", true},       {"op"},
                    {"outcome"},          {"local_pcc", true},
                    {"local_err", true},  {"global_pcc", true},
                    {"global_err", true}, {"dram", true},
                    {"l1", true},         {"beyond"},
                    {"recorded"},         {"reason"}};
}

std::string ReplayView::repeat(const Step& step) const {
  return fmt::format("opwright replay {} {}{}", shell_word(trace_), step.call, flags_);
}

void ReplayView::count_times(const CasePerf& perf) {
  if (!perf.refused.empty()) {
    ++times_.refusals[perf.refused];
    return;
  }
  ++times_.calls;
  if (const auto device = figures_of(perf.device)) times_.device_ns += device->median;
  if (const auto whole = figures_of(perf.end_to_end)) times_.whole_ns += whole->median;
}

void ReplayView::step(const Step& step) {
  if (step.perf) count_times(*step.perf);
  if (is_shown(step)) {
    local_.push_back(step.local ? step.local->rel_rms : NAN);
    global_.push_back(step.global ? step.global->rel_rms : NAN);
    const bool answered = step.outcome == Outcome::kPassed || step.outcome == Outcome::kAccepted;
    if (step.beyond_local && failed_.size() < kMostFailed)
      failed_.push_back(step);
    else if (!step.beyond_local && (!answered || step.part == Part::kSkipped))
      why_.try_emplace(std::string(step.word()), fmt::format("call {} {}: {}", step.call, step.op, step.reason));
  }
  switch (env_.format) {
    case OutputFormat::kJsonl:
      env_.out << step_json(step, step.line.empty() ? "" : repeat(step)).text() << '\n';
      return;
    case OutputFormat::kJson:
      sequence_.push_back(step_json(step, step.line.empty() ? "" : repeat(step)).text());
      return;
    case OutputFormat::kTable:
      if (!is_shown(step)) return;
      break;
    case OutputFormat::kCsv:
      break;
  }
  const bool people = env_.format == OutputFormat::kTable;
  table_.rows.push_back({Cell(static_cast<std::int64_t>(step.call)), Cell(step.op), Cell(step.word()),
                         Cell(pcc_text(step.local)), Cell(error_text(step.local)), Cell(pcc_text(step.global)),
                         Cell(error_text(step.global)), people ? Cell(size_text(step.live.dram)) : Cell(step.live.dram),
                         people ? Cell(size_text(step.live.l1)) : Cell(step.live.l1),
                         Cell(step.beyond_local    ? "local"
                              : step.beyond_global ? "global"
                                                   : ""),
                         Cell(agreement_text(step.recorded)), Cell(step.reason)});
  has_recorded_ = has_recorded_ || step.recorded.has_value();
  has_global_ = has_global_ || step.global.has_value();
}

void ReplayView::print_summary(const jobs::ReplayOutcome& outcome) {
  const replay::Report& report = outcome.report;
  std::ostream& out = env_.out;
  out << fmt::format("\n{} on {}: {}, {} run ({})\n", visible(trace_), outcome.device.name,
                     plural(report.calls, "call"), report.replayed, count_list(report.outcomes, 20));
  if (report.nested > 0) out << fmt::format("{} inside of others that ran\n", plural(report.nested, "call"));
  out << fmt::format("edges: {} recorded, {} inferred, {} ambiguous", report.edges.recorded, report.edges.inferred,
                     report.edges.ambiguous);
  if (report.edges.broken > 0) out << fmt::format(", {} broken", report.edges.broken);
  out << fmt::format("; tensors from outside: {} recorded, {} by sketch, {} by recipe\n", report.inputs.recorded,
                     report.inputs.sketch, report.inputs.recipe);
  const auto& [contents, hashes, sketches] = std::tie(report.contents, report.hashes, report.sketches);
  if (has_recorded_) {
    out << fmt::format("recorded results: {} the same, {} differ", contents.same + hashes.same,
                       contents.differ + hashes.differ);
    if (report.made_up > 0) out << fmt::format(", {} not compared (the call had other inputs)", report.made_up);
    if (sketches.same + sketches.differ > 0)
      out << fmt::format("; by sketch {} alike, {} unlike", sketches.same, sketches.differ);
    if (report.first_differ) out << fmt::format("; the first at call {}", *report.first_differ);
    out << '\n';
  }
  out << fmt::format("most memory: {} DRAM, {} L1; held here {}, with the chain {}\n", size_text(report.peak.dram),
                     size_text(report.peak.l1), size_text(report.held.values), size_text(report.held.all));
  if (times_.calls > 0)
    out << fmt::format("times of {}, medians added up: {:.3f} ms on the chip, {:.3f} ms end to end\n",
                       plural(times_.calls, "call"), times_.device_ns * 1e-6, times_.whole_ns * 1e-6);
  for (const auto& [why, count] : times_.refusals)
    out << fmt::format("{} without times: {}\n", plural(count, "call"), why);
  if (report.stale_writes > 0)
    out << fmt::format("{} written by calls that were not run: they are as they were before\n",
                       plural(report.stale_writes, "tensor"));
  if (report.not_chained > 0)
    out << fmt::format("{} without an exact result: the chain goes on with the device's values\n",
                       plural(report.not_chained, "call"));
  if (report.unusable > 0)
    out << fmt::format("{} of another size or type than their tensor: not used\n",
                       plural(report.unusable, "recorded content"));
  if (report.missing > 0)
    out << fmt::format("{} known by a hash alone: their values are made\n", plural(report.missing, "tensor"));
  if (report.ends_early)
    out << fmt::format("the trace ends at call {}: what was asked for goes on behind it\n", *report.ends_early);
  for (const auto& [kind, count] : report.losses) out << fmt::format("LOST {} x {}\n", grouped(count), kind);
  for (const auto& [word, example] : why_) out << fmt::format("{}: e.g. {}\n", word, visible(example));
  if (std::ranges::any_of(local_, [](double error) { return !std::isnan(error); }))
    out << fmt::format("error of each call, 1e-7 ▁ to █ 1:\n  local   {}\n  global  {}\n",
                       error_plot(local_, kPlotWidth), error_plot(global_, kPlotWidth));
  for (const Step& step : failed_) {
    out << fmt::format("{} call {} {}: {}\n", step.word(), step.call, step.op, visible(step.reason));
    out << fmt::format("  repeat: {}\n", repeat(step));
    out << fmt::format("  in its sequence: opwright replay {} --until {}{}\n", shell_word(trace_), step.call, flags_);
    if (!step.line.empty()) out << fmt::format("  case: {}\n", repeat_command(step.line, outcome.device.name, {}));
  }
  if (report.failed > static_cast<std::int64_t>(failed_.size()))
    out << fmt::format("and {} more that failed\n", report.failed - static_cast<std::int64_t>(failed_.size()));
  if (report.first_beyond)
    out << fmt::format("first call beyond its bound: {} ({})\n", *report.first_beyond,
                       report.first_local == report.first_beyond ? "local" : "global");
  else if (outcome.device.numerics != Numerics::kNone && report.replayed > 0)
    out << "no call beyond its bound\n";
  if (report.stopped) out << "stopped before its end\n";
}

void ReplayView::end(const jobs::ReplayOutcome& outcome) {
  switch (env_.format) {
    case OutputFormat::kJson:
      env_.out << report_json(trace_, outcome, sequence_).text() << '\n';
      break;
    case OutputFormat::kJsonl:
      break;
    case OutputFormat::kCsv:
      print(table_, env_);
      break;
    case OutputFormat::kTable:
      if (!has_recorded_) leave_out(table_, "recorded");
      if (!has_global_)
        for (const std::string_view name : {"global_pcc", "global_err"}) leave_out(table_, name);
      if (!table_.rows.empty()) print(table_, env_);
      print_summary(outcome);
      break;
  }
}

}  // namespace opwright::cli

#include "perf/gate.h"

#include <algorithm>
#include <set>

#include "perf/report_json.h"

namespace opwright::perf {
namespace {

double value_of(const std::vector<double>& values, Statistic statistic) {
  const Statistics all = statistics_of(values);
  switch (statistic) {
    case Statistic::kMean:
      return all.mean;
    case Statistic::kMedian:
      return all.median;
    case Statistic::kMin:
      return all.min;
  }
  return kNoFigure;
}

void add_up(Figures& figures, std::string_view name, double value) {
  if (!has(value)) return;
  const auto [slot, is_new] = figures.emplace(name, value);
  if (!is_new) slot->second += value;
}

GateOutcome judge(double value, const Target& target) {
  if (target.unchecked) return GateOutcome::kUnchecked;
  if (!has(target.value)) return GateOutcome::kTargetMissing;
  if (!has(value)) return GateOutcome::kFigureMissing;
  if (value > target.value + target.margin()) return GateOutcome::kTooHigh;
  if (target.sides == Sides::kBoth && value < target.value - target.margin()) return GateOutcome::kTooLow;
  return GateOutcome::kPassed;
}

class Checker {
 public:
  Checker(std::string window, bool ignore_missing) : window_(std::move(window)), ignore_missing_(ignore_missing) {}

  // Every figure that has a target, and every one of `required` that should have one.
  template <class Names>
  void check(const std::string& op, const Figures& figures, const FigureTargets& targets, const Names& required) {
    std::set<std::string_view> names(required.begin(), required.end());
    for (const auto& [name, target] : targets) names.insert(name);
    for (const std::string_view name : names) {
      const auto figure = figures.find(name);
      const auto target = targets.find(name);
      GateCheck one{window_, op, std::string(name)};
      if (figure != figures.end()) one.value = figure->second;
      if (target != targets.end()) one.target = target->second;
      one.outcome = judge(one.value, one.target);
      // Neither a figure nor a target: nothing to gate.
      if (one.outcome == GateOutcome::kTargetMissing && !has(one.value) && target == targets.end()) continue;
      if (one.outcome == GateOutcome::kTargetMissing && ignore_missing_) one.outcome = GateOutcome::kUnchecked;
      checks.push_back(std::move(one));
    }
  }

  std::vector<GateCheck> checks;

 private:
  std::string window_;
  bool ignore_missing_;
};

}  // namespace

GateFigures figures_of(const Report& report, Statistic statistic) {
  const Reduced& reduced = report.reduced;
  GateFigures out;
  out.window = report.window.name;
  out.positions = static_cast<std::int64_t>(reduced.positions.size());
  out.complete = reduced.coverage.complete() && !reduced.positions.empty();
  for (std::size_t i = 0; i < reduced.positions.size(); ++i) {
    const Position& position = reduced.positions[i];
    Figures& op = out.ops[report.op(position)];
    const double kernel = value_of(position.kernel_ns, statistic), gap = value_of(position.op_to_op_ns, statistic);
    add_up(out.totals, "kernel_ns", kernel);
    add_up(op, "kernel_ns", kernel);
    add_up(out.totals, i == 0 ? "first_op_gap_ns" : "op_to_op_ns", gap);
    if (i > 0) add_up(op, "op_to_op_ns", gap);
    add_up(out.totals, "host_ns", value_of(position.host_ns, statistic));
  }
  if (has(reduced.host_op_ns)) add_up(out.totals, "host_ns", reduced.host_op_ns);
  // The gap of the only operation of an iteration is that before the first: between operations there is none.
  if (out.positions == 1) out.totals.emplace("op_to_op_ns", 0);
  return out;
}

GateFigures figures_of(const LikeResult& result, const Window& window) {
  GateFigures out;
  out.window = window.name;
  add_up(out.totals, "kernel_ns", result.total_kernel_ns);
  add_up(out.totals, "op_to_op_ns", result.total_op_to_op_ns);
  for (const LikeOp& op : result.ops) {
    Figures& figures = out.ops[op.op];
    add_up(figures, "kernel_ns", op.avg_kernel_ns);
    add_up(figures, "op_to_op_ns", op.avg_op_to_op_ns);
  }
  return out;
}

std::string_view name_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPassed:
      return "passed";
    case GateOutcome::kTooHigh:
      return "too_high";
    case GateOutcome::kTooLow:
      return "too_low";
    case GateOutcome::kTargetMissing:
      return "no_target";
    case GateOutcome::kFigureMissing:
      return "no_figure";
    case GateOutcome::kIncomplete:
      return "incomplete";
    case GateOutcome::kOtherSequence:
      return "other_sequence";
    case GateOutcome::kUnchecked:
      return "unchecked";
  }
  return "";
}

bool is_failure(GateOutcome outcome) { return outcome != GateOutcome::kPassed && outcome != GateOutcome::kUnchecked; }

std::vector<GateCheck> check_window(const GateFigures& figures, const WindowTargets& targets, bool ignore_missing,
                                    bool ignore_incomplete) {
  Checker checker(figures.window, ignore_missing);
  if (!figures.complete) {
    GateCheck one{figures.window, "", "coverage"};
    one.outcome = ignore_incomplete ? GateOutcome::kUnchecked : GateOutcome::kIncomplete;
    checker.checks.push_back(std::move(one));
  }
  if (targets.positions) {
    GateCheck one{figures.window, "", "positions"};
    one.value = static_cast<double>(figures.positions);
    one.target.value = static_cast<double>(*targets.positions);
    one.target.margin_percent = 0;
    one.target.sides = Sides::kBoth;
    one.outcome = figures.positions == *targets.positions ? GateOutcome::kPassed : GateOutcome::kOtherSequence;
    checker.checks.push_back(std::move(one));
  }
  checker.check("", figures.totals, targets.figures, kRequiredFigures);
  if (!targets.ops) return std::move(checker.checks);
  static const Figures kNoFigures;
  static const FigureTargets kNoTargets;
  std::set<std::string_view> ops;
  for (const auto& [op, of_it] : figures.ops) ops.insert(op);
  for (const auto& [op, of_it] : *targets.ops) ops.insert(op);
  for (const std::string_view op : ops) {
    const auto figure = figures.ops.find(op);
    const auto target = targets.ops->find(op);
    checker.check(std::string(op), figure == figures.ops.end() ? kNoFigures : figure->second,
                  target == targets.ops->end() ? kNoTargets : target->second, kRequiredFigures);
  }
  return std::move(checker.checks);
}

JsonObject gate_json(const std::string& file, const std::string& targets, const std::vector<GateCheck>& checks) {
  std::map<std::string, std::int64_t> counts;
  std::vector<std::string> items;
  bool passed = false;
  for (const GateCheck& one : checks) {
    ++counts[std::string(name_of(one.outcome))];
    passed = passed || one.outcome == GateOutcome::kPassed;
    JsonObject object;
    object.add("window", one.window)
        .add("operation", one.op)
        .add("op", one.op)
        .add("figure", one.figure)
        .add_raw("value", figure_json(one.value))
        .add_raw("target", figure_json(one.target.value))
        .add_raw("margin", figure_json(has(one.target.value) ? one.target.margin() : kNoFigure))
        .add("sides", name_of(one.target.sides))
        .add_raw("percent", figure_json(100 * (one.value - one.target.value) / one.target.value))
        .add("outcome", name_of(one.outcome));
    items.push_back(object.text());
  }
  const bool failed =
      std::any_of(checks.begin(), checks.end(), [](const GateCheck& one) { return is_failure(one.outcome); });
  JsonObject object;
  object.add("file", file)
      .add("targets", targets)
      .add_bool("passed", passed && !failed)
      .add_raw("outcomes", counts_json(counts))
      .add_raw("checks", json_array(items, true));
  return object;
}

}  // namespace opwright::perf

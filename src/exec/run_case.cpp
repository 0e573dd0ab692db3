#include "exec/run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "compare/sample_rows.h"

namespace opwright {
namespace {

void refused(CaseResult& result, const Refusal& refusal) {
  result.outcome = outcome_of(refusal);
  result.reason = refusal.message;
  result.argument = refusal.argument;
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The worst of all outputs is the case's outcome.
void judge_outputs(const PlannedCall& plan, std::span<const HostTensor> inputs, std::span<const HostTensor> actual,
                   const RunOptions& options, CaseResult& result) {
  if (plan.op->reference == nullptr) {
    refused(result, {Refusal::Kind::kUnsupported, "", fmt::format("{} has no reference", plan.op->name)});
    return;
  }
  if (actual.size() != plan.outputs.size()) {
    result.outcome = Outcome::kFailed;
    result.reason = fmt::format("{} outputs promised, {} came", plan.outputs.size(), actual.size());
    return;
  }
  result.outcome = Outcome::kPassed;
  for (std::size_t o = 0; o < actual.size(); ++o) {
    const Rows rows = pick_rows(plan.outputs[o].spec.shape, options);
    const auto exact = plan.op->reference({plan.call, inputs, plan.outputs, o, rows});
    if (!exact) {
      refused(result, exact.error());
      return;
    }
    const ErrorBudget budget = plan.op->budget(plan.call, plan.outputs, o);
    JudgeOptions how;
    how.pcc = options.pcc;
    how.nan_may_be_infinity = true;
    how.distribution = name_of(options.recipe.distribution);
    how.seed = options.recipe.seed;
    Verdict verdict = judge({.wanted = plan.outputs[o].spec,
                             .actual = actual[o],
                             .budget = budget,
                             .value = exact->value,
                             .magnitude = exact->magnitude,
                             .rows = rows.picked},
                            how);
    if (verdict.outcome == Outcome::kFailed ||
        (verdict.outcome == Outcome::kMistrusted && result.outcome == Outcome::kPassed)) {
      result.outcome = verdict.outcome;
      result.reason = fmt::format("output {}: {}", o, fmt::join(verdict.reasons, "; "));
    }
    result.verdicts.push_back(std::move(verdict));
  }
}

}  // namespace

CaseResult run_case(const OpConfig& config, Device& device, const RunOptions& options) {
  CaseResult result;
  auto plan = plan_call(config, device.can().board);
  if (!plan) {
    refused(result, plan.error());
    return result;
  }
  result.assumed = plan->call.assumed;
  result.outputs = plan->outputs;
  const DeviceCall call{plan->call, plan->outputs};
  const auto admitted = device.admit(call);
  if (!admitted) {
    refused(result, admitted.error());
    return result;
  }
  result.memory = *admitted;
  if (device.can().numerics == Numerics::kNone || !options.compute) {
    result.outcome = Outcome::kAccepted;
    return result;
  }
  const std::vector<HostTensor> inputs = make_inputs(*plan->op, plan->call, options.recipe);
  const auto start = std::chrono::steady_clock::now();
  const auto ran = device.run(call, inputs);
  result.seconds = since(start);
  if (!ran) {
    refused(result, ran.error());
    return result;
  }
  const auto judging = std::chrono::steady_clock::now();
  judge_outputs(*plan, inputs, ran->outputs, options, result);
  result.reference_seconds = since(judging);
  return result;
}

Rows pick_rows(const Shape& shape, const RunOptions& options) {
  Rows rows;
  rows.length = std::max<std::int64_t>(1, row_length(shape));
  rows.total = volume(shape) / rows.length;
  rows.picked = sample_rows({.rows = rows.total,
                             .row_length = rows.length,
                             .rows_per_plane = shape.size() > 1 ? shape[shape.size() - 2] : 0,
                             .elements = options.most_elements,
                             .seed = options.recipe.seed});
  return rows;
}

}  // namespace opwright

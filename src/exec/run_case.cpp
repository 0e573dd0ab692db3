#include "exec/run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "compare/alike_rows.h"
#include "compare/faults.h"
#include "compare/sample_rows.h"
#include "exec/clock/kernel_call.h"
#include "exec/misuse.h"
#include "exec/output_fields.h"
#include "exec/run_external.h"
#include "exec/special_numbers.h"
#include "exec/whole_look.h"
#include "exec/whole_numbers.h"

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

void stage(const RunOptions& options, Stage now) {
  if (options.on_stage) options.on_stage(now);
}

// What the existing suites' PCC, today's or an earlier one, says of the judged rows.
std::string variant_note(PccVariant variant, double threshold, const HostTensor& actual, const Rows& rows,
                         std::span<const double> exact) {
  std::vector<float> golden(exact.begin(), exact.end());
  std::vector<float> calculated;
  for (std::int64_t r = 0; r < rows.count(); ++r)
    for (std::int64_t i = 0; i < rows.length; ++i)
      calculated.push_back(static_cast<float>(actual.at(rows.at(r) * rows.length + i)));
  const auto check =
      comp_pcc(float32_numbers(golden), float32_numbers(calculated), {.threshold = threshold, .variant = variant});
  if (!check) return fmt::format("{}: {}", name_of(variant), check.error().message);
  return fmt::format("{} {:.6f}: {} at {}", name_of(variant), check->pcc, check->passed ? "passes" : "fails",
                     threshold);
}

// Of an output whose numbers are nobody's business but the library's, or that has none.
Verdict spec_alone(const OutputSpec& output, std::size_t number) {
  const bool empty = volume(output.spec.shape) == 0;
  Verdict verdict;
  verdict.outcome = Outcome::kPassed;
  verdict.judged_by = JudgedBy::kExact;
  verdict.shape = output.spec.shape;
  verdict.total_rows = volume(output.spec.shape) / std::max<std::int64_t>(1, row_length(output.spec.shape));
  verdict.notes.push_back(fmt::format("output {}: {}: its spec is compared, its numbers are not", number,
                                      empty ? "without an element" : "laid out for the library's own use"));
  return verdict;
}

}  // namespace

void judge_outputs(const PlannedCall& plan, std::span<HostTensor> inputs, std::span<const HostTensor> actual,
                   std::span<const Rows> picked, const RunOptions& options, CaseResult& result) {
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
    const bool none = volume(plan.outputs[o].spec.shape) == 0 && actual.size() > 1;
    if (has_own_form(plan.outputs[o]) || none) {
      result.verdicts.push_back(spec_alone(plan.outputs[o], o));
      continue;
    }
    const Rows& rows = picked[o];
    auto exact =
        timed(result.times.reference, [&] { return plan.op->reference({plan.call, inputs, plan.outputs, o, rows}); });
    if (!exact) {
      refused(result, exact.error());
      return;
    }
    if (options.tamper) options.tamper(plan.call, *exact);
    if (const auto wanted = static_cast<std::size_t>(rows.count() * rows.length); exact->value.size() != wanted) {
      result.outcome = Outcome::kHarnessError;
      result.reason = fmt::format("the reference gave {} numbers, {} are due", exact->value.size(), wanted);
      return;
    }
    if (options.on_exact) options.on_exact(o, *exact);
    const ErrorBudget budget = budget_for(options.recipe, *plan.op, plan.call, plan.outputs, o);
    JudgeOptions how;
    how.pcc = options.pcc;
    // The packer turns NaN into infinity in these formats; a float32 keeps it.
    how.nan_may_be_infinity = plan.outputs[o].spec.dtype.value != DType::kFloat32;
    if (options.recipe.distribution == Distribution::kSpecial) {
      const OpenNumbers open = open_numbers(*plan.op);
      how.nan_is_open = open.nan;
      how.infinity_is_open = open.infinity;
    }
    how.distribution = name_of(options.recipe.distribution);
    how.seed = options.recipe.seed;
    const Judged judged{.wanted = plan.outputs[o].spec,
                        .actual = actual[o],
                        .budget = budget,
                        .value = exact->value,
                        .magnitude = exact->magnitude,
                        .before = exact->before,
                        .after = exact->after,
                        .slack = exact->slack,
                        .open = exact->open,
                        .rows = rows.picked,
                        .same_choice = exact->same_choice,
                        .choice_of = exact->choice_of,
                        .constant = plan.op->constant};
    Verdict verdict = timed(result.times.judge, [&] { return judge(judged, how); });
    if (options.mutate && verdict.outcome == Outcome::kPassed) {
      const FaultReport report = try_faults(judged, how, inputs, {.seed = options.recipe.seed});
      result.faults += report.tried;
      result.faults_noticed += report.noticed;
      for (const std::string& name : report.unnoticed) result.unnoticed.push_back(name);
      std::string why_none;
      verdict.misuse = try_misuse(plan, inputs, o, rows, options.recipe, how, why_none);
      if (!why_none.empty()) verdict.notes.push_back(std::move(why_none));
      verdict.blind = blind_to(verdict.misuse);
    } else if (verdict.outcome == Outcome::kPassed && options.ask_blindness) {
      const Timed time(result.times.blind);
      verdict.blind = blind_to(plan, inputs, o, rows, options.recipe, how);
    }
    if (options.variant)
      verdict.notes.push_back(
          variant_note(*options.variant, how.pcc.value_or(budget.pcc), actual[o], rows, exact->value));
    if (verdict.outcome == Outcome::kFailed ||
        (verdict.outcome == Outcome::kMistrusted && result.outcome == Outcome::kPassed)) {
      result.outcome = verdict.outcome;
      result.reason = fmt::format("output {}: {}", o, fmt::join(verdict.reasons, "; "));
    }
    result.verdicts.push_back(std::move(verdict));
  }
}

bool accept_specs(const Returned& returned, CaseResult& result) {
  SpecVerdict verdict = judge_returned(returned);
  if (verdict.outcome == Outcome::kPassed) return true;
  result.outcome = verdict.outcome;
  result.reason = std::move(verdict.reason);
  result.evidence = std::move(verdict.evidence);
  if (verdict.outcome == Outcome::kReferenceWrong) result.blame = Blame::kReference;
  return false;
}

void prove(const OpConfig& traced, CaseResult& result) {
  if (result.executed) result.proof = compare_executed(traced, *result.executed);
  if (result.outcome != Outcome::kPassed) return;
  if (!result.executed) {
    result.outcome = Outcome::kUnproven;
    result.reason =
        "the device does not tell what it executed (capture), so nobody knows whether it is what was traced";
  } else if (result.proof && !result.proof->proven()) {
    result.outcome = Outcome::kUnproven;
    result.reason = fmt::format("executed is not what was traced: {}", fmt::join(result.proof->differences, "; "));
  } else if (result.faults_noticed < result.faults) {
    result.outcome = Outcome::kVacuous;
    result.reason = fmt::format("{} of {} planted faults would have passed: {}", result.faults - result.faults_noticed,
                                result.faults, fmt::join(result.unnoticed, ", "));
  }
}

void run_planned(const PlannedCall& plan, Device& device, std::span<HostTensor> inputs, const RunOptions& options,
                 CaseResult& result) {
  std::vector<Rows> rows;
  std::vector<std::vector<std::int64_t>> looked_at;
  for (std::size_t o = 0; o < plan.outputs.size(); ++o)
    looked_at.push_back(rows.emplace_back(pick_rows(plan, inputs, o, options)).picked);
  DeviceCall call{plan.call, plan.outputs};
  if (!options.whole_outputs) call.rows = looked_at;
  stage(options, Stage::kDevice);
  const auto start = std::chrono::steady_clock::now();
  auto ran = timed(result.times.device, [&] { return device.run(call, inputs); });
  result.seconds = since(start);
  if (!ran) {
    refused(result, ran.error());
    return;
  }
  result.computed = true;
  const auto judging = std::chrono::steady_clock::now();
  stage(options, Stage::kReference);
  if (options.whole_outputs) add_alike_rows(ran->outputs, rows);
  judge_outputs(plan, inputs, ran->outputs, rows, options, result);
  result.reference_seconds = since(judging);
  if (options.keep_outputs) {
    result.actual = std::move(ran->outputs);
    result.judged_rows = std::move(looked_at);
  }
}

namespace {

CaseResult run_once(const OpConfig& config, Device& device, const RunOptions& options) {
  if (device.can().recorded_calls) return run_external(config, device, options);
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
  if (!accept_specs({&plan->outputs, nullptr, options.recorded, device.can().board.name}, result)) return result;
  if (device.can().numerics == Numerics::kNone || !options.compute) {
    result.outcome = Outcome::kAccepted;
    return result;
  }
  std::vector<HostTensor> inputs = timed(result.times.data, [&] { return make_inputs(*plan, options.recipe); });
  run_planned(*plan, device, inputs, options, result);
  if (!result.computed) return result;
  result.executed = recapture(plan->call, inputs);
  result.kernel_seconds = modelled_kernel_seconds(*plan, device.can().board);
  prove(config, result);
  return result;
}

}  // namespace

CaseResult run_case(const OpConfig& config, Device& device, const RunOptions& options) {
  CaseResult result = run_once(config, device, options);
  look_on_whole_numbers(
      config, device.can().board, options, [&](const RunOptions& whole) { return run_once(config, device, whole); },
      result);
  return result;
}

void add_alike_rows(std::span<const HostTensor> outputs, std::span<Rows> rows) {
  constexpr std::int64_t kElements = std::int64_t{1} << 18;
  for (std::size_t o = 0; o < rows.size() && o < outputs.size(); ++o) {
    Rows& of = rows[o];
    if (of.picked.empty() || outputs[o].size() != of.total * of.length) continue;
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(8, kElements / std::max<std::int64_t>(1, of.length)));
    const std::vector<std::int64_t> alike = alike_rows(outputs[o], of.length, most);
    std::vector<std::int64_t> all;
    std::ranges::set_union(of.picked, alike, std::back_inserter(all));
    of.picked = std::move(all);
  }
}

Rows pick_rows(const PlannedCall& plan, std::span<const HostTensor> inputs, std::size_t output,
               const RunOptions& options) {
  const Shape& shape = plan.outputs[output].spec.shape;
  Rows rows;
  rows.length = std::max<std::int64_t>(1, row_length(shape));
  rows.total = volume(shape) / rows.length;
  SamplePlan sample{.rows = rows.total,
                    .row_length = rows.length,
                    .rows_per_plane = shape.size() > 1 ? shape[shape.size() - 2] : 0,
                    .elements = options.most_elements,
                    .seed = options.recipe.seed};
  if (const double work = plan.op->work == nullptr ? 0.0 : plan.op->work(plan.call); work > 0) {
    const auto most_rows = std::max<std::int64_t>(16, static_cast<std::int64_t>(options.most_work / work));
    sample.elements = std::min(sample.elements, most_rows * rows.length);
  }
  rows.picked = sample_rows(sample);
  if (rows.picked.empty() || plan.op->written == nullptr) return rows;
  std::vector<std::int64_t> written = plan.op->written({plan.call, inputs, plan.outputs, output, rows});
  sample.rows = static_cast<std::int64_t>(written.size());
  sample.rows_per_plane = 0;
  const std::vector<std::int64_t> places = sample_rows(sample);
  std::vector<std::int64_t> looked_at;
  for (const std::int64_t place : places) looked_at.push_back(written[static_cast<std::size_t>(place)]);
  if (places.empty()) looked_at = std::move(written);
  std::vector<std::int64_t> all;
  std::ranges::set_union(rows.picked, looked_at, std::back_inserter(all));
  rows.picked = std::move(all);
  return rows;
}

}  // namespace opwright

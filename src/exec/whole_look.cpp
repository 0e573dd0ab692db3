#include "exec/whole_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "exec/whole_numbers.h"

namespace opwright {
namespace {

// Of the spread: some ten times this is the bound of an element, and those that lie closer cannot be told apart.
constexpr double kWide = 0.02;
// Errors that whole numbers show are in every row.
struct Look {
  std::int64_t elements;
  double less_work;
};
constexpr Look kThorough{.elements = std::int64_t{1} << 18, .less_work = 16};
// Beside a bound that tells most mistakes already: what is left is in every row, and small.
constexpr Look kShort{.elements = std::int64_t{1} << 13, .less_work = 1024};
// A device that computes whole outputs is not asked for that where it takes long; for somewhat longer where a common
// factor of a percent would pass otherwise.
constexpr std::int64_t kMostShort = std::int64_t{1} << 20;
constexpr std::int64_t kMostForFactor = std::int64_t{1} << 22;
constexpr double kWideFactor = 0.005;

bool is_sum(const Verdict& verdict) { return verdict.metrics.excess > 0.0; }
bool tells_little(const Verdict& verdict) {
  const Metrics& m = verdict.metrics;
  return is_sum(verdict) && m.noise > kWide * m.spread;
}

// The largest common factor that would pass: 0.01 of 1 %; 0 where none was asked about.
double factor_off(const Metrics& metrics) {
  return std::isnan(metrics.factor_low) ? 0.0 : std::max(1 - metrics.factor_low, metrics.factor_high - 1);
}

// Whole numbers came out exact: a factor that this dtype shows on none of them is all that can still be hidden. Half a
// unit in the last place is at most 2^-digits of a number.
void narrow_factor(std::span<const OutputSpec> outputs, const CaseResult& again, CaseResult& result) {
  for (std::size_t o = 0; o < result.verdicts.size() && o < again.verdicts.size() && o < outputs.size(); ++o) {
    if (again.verdicts[o].judged_by != JudgedBy::kExact || again.verdicts[o].outcome != Outcome::kPassed) continue;
    const DType dtype = outputs[o].spec.dtype.value;
    const int digits = dtype == DType::kBfloat16 ? 8 : dtype == DType::kFloat32 ? 24 : 0;
    Metrics& m = result.verdicts[o].metrics;
    if (digits == 0 || std::isnan(m.factor_low)) continue;
    const double seen = std::ldexp(1.0, -digits);
    m.factor_low = std::max(m.factor_low, 1 - seen);
    m.factor_high = std::min(m.factor_high, 1 + seen);
  }
}

const Look* look_at(const CaseResult& result, const PlannedCall& plan) {
  bool wide = !result.unnoticed.empty();
  bool sums = false;
  bool hides_factor = false;
  for (std::size_t o = 0; o < result.verdicts.size() && o < plan.outputs.size(); ++o) {
    const bool exact = exact_on_integers(*plan.op, plan.call, plan.outputs, o);
    sums = sums || (exact && is_sum(result.verdicts[o]));
    hides_factor = hides_factor || (exact && factor_off(result.verdicts[o].metrics) > kWideFactor);
    if (!tells_little(result.verdicts[o]) && result.unnoticed.empty()) continue;
    wide = true;
    if (!exact) return nullptr;
  }
  if (wide) return &kThorough;
  std::int64_t elements = 0;
  for (const TensorSlot& slot : plan.call.tensors) elements += volume(slot.spec.shape);
  for (const OutputSpec& output : plan.outputs) elements += volume(output.spec.shape);
  return sums && elements <= (hides_factor ? kMostForFactor : kMostShort) ? &kShort : nullptr;
}

// Faults that neither look noticed.
void merge_faults(const CaseResult& again, CaseResult& result) {
  if (again.faults == 0) return;
  std::erase_if(result.unnoticed, [&](const std::string& name) {
    return std::ranges::find(again.unnoticed, name) == again.unnoticed.end();
  });
  result.faults_noticed = result.faults - static_cast<std::int64_t>(result.unnoticed.size());
  if (result.outcome == Outcome::kVacuous && result.unnoticed.empty()) {
    result.outcome = Outcome::kPassed;
    result.reason.clear();
  }
}

}  // namespace

void look_on_whole_numbers(const OpConfig& config, const Board& board, const RunOptions& options, const RunOnce& run,
                           CaseResult& result) {
  // Who puts other values in the place of the reference has them for these numbers alone.
  const Distribution data = options.recipe.distribution;
  if (!options.compute || options.tamper || is_plain(data) || options.recipe.kept || data == Distribution::kSpecial)
    return;
  const bool sound =
      result.outcome == Outcome::kPassed || result.outcome == Outcome::kUnproven || result.outcome == Outcome::kVacuous;
  if (!sound || result.verdicts.empty()) return;
  const auto plan = plan_call(config, board);
  const Look* look = plan ? look_at(result, *plan) : nullptr;
  if (look == nullptr) return;
  RunOptions whole = options;
  whole.recipe.distribution = Distribution::kIntegers;
  whole.most_elements = std::min(whole.most_elements, look->elements);
  whole.most_work /= look->less_work;
  whole.keep_outputs = false;
  whole.variant.reset();
  whole.repeat = 1;
  const CaseResult again = timed(result.times.whole, [&] { return run(whole); });
  result.reference_seconds += again.reference_seconds + again.seconds;
  if (is_failure(again.outcome) && again.outcome != Outcome::kVacuous) {
    result.outcome = again.outcome;
    result.reason = fmt::format("on whole numbers, of which every sum is exact: {}", again.reason);
    result.verdicts = again.verdicts;
    return;
  }
  merge_faults(again, result);
  narrow_factor(plan->outputs, again, result);
  if (look == &kShort) return;
  if (again.outcome == Outcome::kPassed || again.outcome == Outcome::kUnproven || again.outcome == Outcome::kVacuous)
    result.notes.emplace_back("the bound is wide on these numbers; on whole numbers, too, and there exact");
  else
    result.notes.push_back(
        fmt::format("the bound is wide on these numbers; on whole numbers it ended as {}", name_of(again.outcome)));
}

}  // namespace opwright

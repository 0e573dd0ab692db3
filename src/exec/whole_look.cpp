#include "exec/whole_look.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/whole_numbers.h"

namespace opwright {
namespace {

// Of the spread: some ten times this is the bound of an element, and those that lie closer cannot be told apart.
constexpr double kWide = 0.02;
// Errors that whole numbers show are in every row.
constexpr std::int64_t kElements = std::int64_t{1} << 18;
constexpr double kLessWork = 16;

bool tells_little(const Verdict& verdict) {
  const Metrics& m = verdict.metrics;
  return m.excess > 0.0 && m.noise > kWide * m.spread;
}

bool worth_it(const CaseResult& result, const PlannedCall& plan) {
  bool wide = !result.unnoticed.empty();
  for (std::size_t o = 0; o < result.verdicts.size() && o < plan.outputs.size(); ++o) {
    if (!tells_little(result.verdicts[o]) && result.unnoticed.empty()) continue;
    wide = true;
    if (!exact_on_integers(*plan.op, plan.call, plan.outputs, o)) return false;
  }
  return wide;
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
  if (!plan || !worth_it(result, *plan)) return;
  RunOptions whole = options;
  whole.recipe.distribution = Distribution::kIntegers;
  whole.most_elements = std::min(whole.most_elements, kElements);
  whole.most_work /= kLessWork;
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
  if (again.outcome == Outcome::kPassed || again.outcome == Outcome::kUnproven || again.outcome == Outcome::kVacuous)
    result.notes.emplace_back("the bound is wide on these numbers; on whole numbers, too, and there exact");
  else
    result.notes.push_back(
        fmt::format("the bound is wide on these numbers; on whole numbers it ended as {}", name_of(again.outcome)));
}

}  // namespace opwright

#include "jobs/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/words.h"
#include "exec/job.h"
#include "exec/pace.h"
#include "exec/record_of.h"
#include "exec/run_order.h"
#include "exec/traced_board.h"
#include "jobs/earlier_times.h"
#include "jobs/profile_match.h"
#include "jobs/question.h"
#include "jobs/recorded_returns.h"

namespace opwright::jobs {
namespace {

constexpr std::string_view kUsualBoard = "n300";  // for configurations whose trace names none
constexpr std::string_view kRaised = "raised";

// For inference and estimates: that of "sim:n300", "ttnn:mock:n150".
Board board_of(const std::string& device) {
  const std::size_t colon = device.rfind(':');
  return find_board(colon == std::string::npos ? kUsualBoard : std::string_view(device).substr(colon + 1))
      .value_or(*find_board(kUsualBoard));
}

CostModel cost_of(const std::string& device) {
  if (device == "null") return CostModel::kAccept;
  return device.starts_with("sim") || device == "selftest" ? CostModel::kSimulated : CostModel::kExternal;
}

// Vectors of a file come without a store.
Result<RecordedReturns> recorded_returns(const RunChoice& choice, const VectorPlace& place) {
  if (!choice.vectors.empty() || !choice.suites.empty()) return RecordedReturns();
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(place.store, place.wait_ms));
  return RecordedReturns::read(*reader);
}

// What cases took before is a better estimate than any; of the others it says how fast the device is.
void learn_from(const std::vector<std::pair<std::uint32_t, EarlierTimes::Took>>& known, RunPlan& plan) {
  if (known.empty()) return;
  Pace pace;
  const auto cases = plan.spool.cases();
  for (const auto& [index, took] : known)
    if (took.answered) pace.ended(cases[index].op, static_cast<double>(cases[index].seconds), took.seconds);
  auto next = known.begin();
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    const bool is_known = next != known.end() && next->first == i;
    plan.spool.set_seconds(
        i, is_known ? next->second.seconds : pace.seconds(cases[i].op, static_cast<double>(cases[i].seconds)));
    if (is_known) ++next;
  }
  plan.summary.timed_before = std::ssize(known);
}

// What configurations cost in a profiler report, by the hex of their keys; nothing where none was named.
Result<std::optional<std::map<std::string, double>>> profiled_costs(const RunChoice& choice, const VectorPlace& place) {
  if (choice.profile.empty()) {
    if (choice.profile_window.empty()) return std::optional<std::map<std::string, double>>();
    return fail(ErrorCode::kUsage, "--profile-window goes with --profile FILE");
  }
  if (choice.budget.empty()) return fail(ErrorCode::kUsage, "run --profile FILE weighs the cases of a --budget");
  OPWRIGHT_TRY_ASSIGN(const ProfileMatch match,
                      match_profile(PerfRequest{.paths = {choice.profile}, .window = choice.profile_window},
                                    {.store = place.store, .wait_ms = place.wait_ms, .where = choice.where}));
  if (match.cost.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: none of its {} fits a configuration of the store; 'opwright perf {} --unmatched' says "
                            "why",
                            choice.profile, plural(static_cast<std::int64_t>(match.positions.size()), "position"),
                            choice.profile));
  std::map<std::string, double> costs;
  for (const auto& [key, cost] : match.cost) costs[to_hex(key)] = cost.kernel_ns + cost.gap_ns;
  return std::optional(std::move(costs));
}

}  // namespace

Result<RunPlan> plan_run(const PlanOptions& options) {
  const RunChoice& choice = options.choice;
  Shard shard;
  if (!choice.shard.empty()) {
    OPWRIGHT_TRY_ASSIGN(shard, parse_shard(choice.shard));
  }
  OPWRIGHT_TRY_ASSIGN(CaseSpool spool, CaseSpool::create());
  RunPlan plan{.spool = std::move(spool)};
  PlanSummary& summary = plan.summary;
  const std::string device = options.device();
  const bool own_board = options.own_board();
  const Board usual = board_of(device);
  const std::string flags = repeat_flags(choice);
  OPWRIGHT_TRY_ASSIGN(const RecordedReturns returns, recorded_returns(choice, options.place));
  OPWRIGHT_TRY_ASSIGN(const EarlierTimes earlier, EarlierTimes::read(choice, options.place));
  std::vector<std::pair<std::uint32_t, EarlierTimes::Took>> known;
  OPWRIGHT_TRY_ASSIGN(const auto costs, profiled_costs(choice, options.place));
  std::vector<std::int64_t> calls;  // of each case, where its weight is another figure
  const auto weight = [&](const vectors::TestVector& vector) {
    if (!costs) return vector.calls;
    const auto found = costs->find(vector.key);
    return found == costs->end() ? 0 : static_cast<std::int64_t>(found->second);
  };
  Sha256 digest{};  // of all ids so far: the plan does not hold them
  OPWRIGHT_TRY(for_each_vector(choice, options.place, [&](vectors::TestVector&& vector) -> Status {
    // What the device can answer by itself (lost arguments, host tensors) is asked and counted with the results; a call
    // that only ever raised is no test of anything.
    if (vectors::rule_of(vector) == kRaised && !choice.keep_invalid) {
      ++summary.invalid[std::string(vectors::rule_of(vector))];
      return {};
    }
    if (!shard.holds(vector.id)) {
      ++summary.other_shards;
      return {};
    }
    vector.recipe = options.run.recipe;
    std::optional<Board> board;
    if (own_board) {
      board = traced_board(vector.machine);
      if (!board) ++summary.without_board;
    }
    const Board& where = board ? *board : usual;
    Job job =
        job_of(vector, static_cast<std::int64_t>(plan.spool.size()), own_board ? device + ":" + where.name : device);
    job.record.repeat += flags;
    if (vector.pcc && !options.run.pcc) job.record.repeat += fmt::format(" --pcc {}", *vector.pcc);
    if (own_board) job.board = where.name;
    job.recorded = returns.of(vector.key);
    if (!job.recorded.empty()) job.record.repeat += " --recorded " + shell_word(to_json(job.recorded));
    const CaseEstimate cost = estimate(vector.config, where, cost_of(device), options.run);
    job.bytes = cost.bytes;
    job.record.elements = cost.elements;
    // With --mutate the references of wrong calls take their time, too: some dozens of them, on a part of the rows.
    job.seconds = choice.timeouts.of(job.record, vector.seconds, choice.mutate ? 4 + 8 * cost.seconds : cost.seconds);
    digest = sha256(to_hex(digest) + vector.id);
    if (const EarlierTimes::Took* took = earlier.of(vector.key, vector.id))
      known.emplace_back(static_cast<std::uint32_t>(plan.spool.size()), *took);
    if (costs) calls.push_back(vector.calls);
    return plan.spool.append(to_json(job), {.bytes = cost.bytes,
                                            .weight = weight(vector),
                                            .op = plan.spool.op_id(vector.config.op),
                                            .seconds = static_cast<float>(cost.seconds),
                                            .features = cost.features});
  }));
  learn_from(known, plan);
  CoverageOrder order = coverage_order(plan.spool.cases());
  plan.chosen = std::move(order.order);
  plan.opening = order.opening;
  if (!choice.budget.empty()) {
    OPWRIGHT_TRY_ASSIGN(plan.budget_seconds, parse_budget(choice.budget));
  }
  if (choice.randomize || choice.plan_order) {
    std::ranges::sort(plan.chosen);
    plan.in_plan_order = true;
  }
  std::vector<std::uint32_t> told = plan.chosen;
  if (plan.budget_seconds > 0) {
    BudgetPlan within = choose_within(plan.spool.cases(), plan.budget_seconds, options.jobs);
    plan.weight_unit = costs ? "nanosecond" : "call";
    summary.budget = budget_text(within, plan.spool, 10, plan.weight_unit);
    told = std::move(within.chosen);
  }
  for (const std::uint32_t index : told) {
    const PlannedCase& planned = plan.spool.cases()[index];
    for (PlanSummary::Row* row : {&summary.operations[plan.spool.op_name(planned.op)], &summary.all}) {
      ++row->cases;
      row->calls += costs ? calls[index] : planned.weight;
      row->seconds += static_cast<double>(planned.seconds);
      row->largest = std::max(row->largest, planned.bytes);
    }
  }
  plan.digest = to_hex(digest);
  return plan;
}

}  // namespace opwright::jobs

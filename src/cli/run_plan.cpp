#include "cli/run_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "cli/output.h"
#include "cli/query.h"
#include "cli/run_options.h"
#include "cli/vector_flags.h"
#include "exec/job.h"
#include "exec/record_of.h"
#include "exec/run_order.h"
#include "exec/traced_board.h"

namespace opwright::cli {
namespace {

constexpr std::string_view kUsualBoard = "n300";  // for configurations whose trace names none
constexpr std::string_view kRaised = "raised";
constexpr double kDefaultSeconds = 30;
// The default time-out of a case that is known to be long: this many times its estimate, which is rough.
constexpr double kGenerous = 20;

// "--timeout 60", "--timeout ttnn.conv2d=120", "--timeout xfail_suite=5"
struct Timeouts {
  double usual = kDefaultSeconds;
  bool given = false;
  std::map<std::string, double, std::less<>> by_name;

  double of(const CaseRecord& record, std::optional<double> own, double estimated) const {
    if (own) return *own;
    if (const auto found = by_name.find(record.op); found != by_name.end()) return found->second;
    if (const auto found = by_name.find(record.suite); found != by_name.end()) return found->second;
    return given ? usual : std::max(usual, kGenerous * estimated);
  }
};

Result<Timeouts> timeouts_of(const ParsedArgs& args) {
  Timeouts timeouts;
  for (const std::string& text : args.all("--timeout")) {
    const std::size_t equals = text.find('=');
    const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
    char* end = nullptr;
    const double seconds = std::strtod(number.c_str(), &end);
    if (end == number.c_str() || *end != '\0' || !(seconds > 0))
      return fail(ErrorCode::kUsage, fmt::format("--timeout {}: SECONDS, OP=SECONDS or SUITE=SECONDS", text));
    if (equals == std::string::npos) {
      timeouts.usual = seconds;
      timeouts.given = true;
    } else {
      timeouts.by_name[text.substr(0, equals)] = seconds;
    }
  }
  return timeouts;
}

CostModel cost_of(const std::string& device) {
  if (device == "null") return CostModel::kAccept;
  return device.starts_with("sim") || device == "selftest" ? CostModel::kSimulated : CostModel::kExternal;
}

}  // namespace

Result<RunPlan> plan_run(const ParsedArgs& args, CommandEnv& env, const PlanOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const Timeouts timeouts, timeouts_of(args));
  Shard shard;
  if (const std::string text = args.value("--shard"); !text.empty()) {
    OPWRIGHT_TRY_ASSIGN(shard, parse_shard(text));
  }
  OPWRIGHT_TRY_ASSIGN(CaseSpool spool, CaseSpool::create());
  RunPlan plan{.spool = std::move(spool)};
  const Board usual =
      find_board(options.usual_board.empty() ? kUsualBoard : options.usual_board).value_or(*find_board(kUsualBoard));
  const std::string flags = repeat_flags(args);
  Sha256 digest{};  // of all ids so far: the plan does not hold them
  OPWRIGHT_TRY(for_each_vector_of(args, env, [&](vectors::TestVector&& vector) -> Status {
    // What the device can answer by itself (lost arguments, host tensors) is asked and counted with the results; a call
    // that only ever raised is no test of anything.
    if (vectors::rule_of(vector) == kRaised && !args.is_set("--keep-invalid")) {
      ++plan.invalid[std::string(vectors::rule_of(vector))];
      return {};
    }
    if (!shard.holds(vector.id)) {
      ++plan.other_shards;
      return {};
    }
    vector.recipe = options.run.recipe;
    std::optional<Board> board;
    if (options.own_board) {
      board = traced_board(vector.machine);
      if (!board) ++plan.without_board;
    }
    const Board& where = board ? *board : usual;
    const std::string device = options.own_board ? options.device + ":" + where.name : options.device;
    Job job = job_of(vector, static_cast<std::int64_t>(plan.spool.size()), device);
    job.record.repeat += flags;
    if (vector.pcc && !options.run.pcc) job.record.repeat += fmt::format(" --pcc {}", *vector.pcc);
    if (options.own_board) job.board = where.name;
    const CaseEstimate cost = estimate(vector.config, where, cost_of(options.device), options.run);
    job.bytes = cost.bytes;
    job.record.elements = cost.elements;
    job.seconds = timeouts.of(job.record, vector.seconds, cost.seconds);
    digest = sha256(to_hex(digest) + vector.id);
    return plan.spool.append(to_json(job), {.bytes = cost.bytes,
                                            .weight = vector.calls,
                                            .op = plan.spool.op_id(vector.config.op),
                                            .seconds = static_cast<float>(cost.seconds),
                                            .features = cost.features});
  }));
  if (const std::string text = args.value("--budget"); !text.empty()) {
    OPWRIGHT_TRY_ASSIGN(const double seconds, parse_budget(text));
    BudgetPlan chosen = choose_within(plan.spool.cases(), seconds, options.jobs);
    plan.budget = budget_text(chosen, plan.spool, 10);
    plan.chosen = std::move(chosen.chosen);
  } else {
    plan.chosen.resize(plan.spool.size());
    for (std::size_t i = 0; i < plan.chosen.size(); ++i) plan.chosen[i] = static_cast<std::uint32_t>(i);
  }
  for (const std::uint32_t index : plan.chosen) plan.seconds += static_cast<double>(plan.spool.cases()[index].seconds);
  plan.digest = to_hex(digest);
  return plan;
}

void print_plan(const RunPlan& plan, CommandEnv& env) {
  struct Row {
    std::int64_t cases = 0, calls = 0, bytes = 0;
    double seconds = 0;
  };
  std::map<std::string, Row> rows;
  Row all;
  for (const std::uint32_t index : plan.chosen) {
    const PlannedCase& planned = plan.spool.cases()[index];
    for (Row* row : {&rows[plan.spool.op_name(planned.op)], &all}) {
      ++row->cases;
      row->calls += planned.weight;
      row->seconds += static_cast<double>(planned.seconds);
      row->bytes = std::max(row->bytes, planned.bytes);
    }
  }
  Table table{{{"operation"}, {"cases", true}, {"calls", true}, {"seconds", true}, {"largest", true}}, {}};
  const auto add = [&](const std::string& name, const Row& row) {
    table.rows.push_back({name, row.cases, row.calls,
                          Cell(fmt::format("{:.2f}", row.seconds), fmt::format("{:.4f}", row.seconds)),
                          Cell(size_text(row.bytes), std::to_string(row.bytes))});
  };
  for (const auto& [name, row] : rows) add(name, row);
  add("all", all);
  print(table, env);
}

}  // namespace opwright::cli

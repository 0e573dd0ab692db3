#include "cli/run_many.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/clock.h"
#include "base/json_object.h"
#include "base/process_identity.h"
#include "cli/device_program.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/query.h"
#include "cli/run_options.h"
#include "cli/run_plan.h"
#include "cli/run_record.h"
#include "cli/run_view.h"
#include "exec/attribution.h"
#include "exec/case_line.h"
#include "exec/record_of.h"
#include "exec/run_order.h"
#include "exec/runner.h"
#include "exec/worker.h"
#include "report/analysis.h"
#include "report/analysis_view.h"
#include "store/results.h"
#include "store/run_life.h"

namespace opwright::cli {
namespace {

constexpr int kExitInterrupted = 130;

int cores() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

std::int64_t machine_bytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

// "8G", "512M", bytes
Result<std::int64_t> bytes_of(const ParsedArgs& args, std::string_view flag, std::int64_t otherwise) {
  const std::string text = args.value(flag);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const double factor = unit == "G" || unit == "GB" ? 1e9 : unit == "M" || unit == "MB" ? 1e6 : unit.empty() ? 1 : 0;
  if (end == text.c_str() || factor == 0 || !(number > 0))
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a size like 8G, 512M or a number of bytes", flag, text));
  return static_cast<std::int64_t>(number * factor);
}

// A case that every sound device passes or accepts.
std::string canary_line(const PlanOptions& options) {
  vectors::TestVector vector;
  vector.suite = "canary";
  vector.config = *parse_case(
      "ttnn.add(input_tensor_a=tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)),"
      "input_tensor_b=tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))");
  vector.id = "canary";
  Job job = job_of(vector, -1, options.device);
  if (options.own_board) job.board = "n150";
  return to_json(job);
}

// xfail suites turn their answers round: a failure is what was expected.
void expect_failure(CaseRecord& record) {
  if (!record.suite.starts_with("xfail")) return;
  switch (record.outcome) {
    case Outcome::kPassed:
    case Outcome::kAccepted:
      record.reason = fmt::format("{} in a suite that is expected to fail", name_of(record.outcome));
      record.outcome = Outcome::kXpassed;
      return;
    case Outcome::kFailed:
    case Outcome::kRefused:
    case Outcome::kOutOfMemory:
    case Outcome::kDeviceError:
      record.outcome = Outcome::kXfailed;
      return;
    default:  // a crash or a hang is nobody's expectation, and what did not run proves nothing
      return;
  }
}

void explain_plan(const RunPlan& plan, CommandEnv& env) {
  for (const auto& [rule, count] : plan.invalid)
    env.err << fmt::format("opwright: {} not taken: {} (--keep-invalid runs them)\n", plural(count, "vector"), rule);
  if (plan.other_shards > 0)
    env.err << fmt::format("opwright: {} in other shards\n", plural(plan.other_shards, "case"));
  if (plan.without_board > 0)
    env.err << fmt::format("opwright: {} of traces that name no known board\n", plural(plan.without_board, "case"));
  if (!plan.budget.empty()) env.err << plan.budget;
}

// A run that is continued: its record, its command line, and what it has done already.
struct Resumed {
  RunRecord run;
  ParsedArgs args;
  std::set<std::int64_t> done, stored;  // a failure that nobody was blamed for is stored, and not done
};

Result<Resumed> resumed(const ParsedArgs& given, CommandEnv& env, int wait) {
  OPWRIGHT_TRY_ASSIGN(auto reader, store::ResultsReader::open(env.store, wait));
  Resumed out;
  OPWRIGHT_TRY_ASSIGN(out.run, reader.find_run(given.value("--run", "last")));
  if (out.run.status == "complete") return out;
  if (out.run.status == "running")
    return fail(ErrorCode::kLocked, fmt::format("run {} is still running, as another process of this machine; wait for "
                                                "its end, or stop it",
                                                out.run.uid));
  OPWRIGHT_TRY_ASSIGN(out.args, resumed_args(given, out.run));
  // A failure that nobody was blamed for was interrupted while it was being repeated: it runs again.
  OPWRIGHT_TRY(reader.for_each(out.run.uid, [&](CaseRecord&& record) -> Status {
    out.stored.insert(record.index);
    if (!Attribution::wanted(record.outcome) || record.blame != Blame::kNobody || given.is_set("--no-attribute"))
      out.done.insert(record.index);
    return {};
  }));
  return out;
}

Result<PlanOptions> plan_options_of(const ParsedArgs& args, const RunOptions& options) {
  PlanOptions out;
  out.device = args.value("--device", "sim");
  out.own_board = out.device == "sim";
  OPWRIGHT_TRY_ASSIGN(const std::size_t jobs, count_of(args, "--jobs", static_cast<std::size_t>(cores())));
  if (jobs == 0 || jobs > 1024) return fail(ErrorCode::kUsage, "--jobs: from 1 to 1024");
  out.jobs = static_cast<int>(jobs);
  out.run = options;
  if (const std::size_t colon = out.device.rfind(':'); colon != std::string::npos)
    if (const std::string board = out.device.substr(colon + 1); find_board(board)) out.usual_board = board;
  return out;
}

Result<WorkerSetup> worker_setup_of(const ParsedArgs& args, const PlanOptions& plan, std::int64_t memory) {
  WorkerSetup setup;
  setup.device = plan.device;
  setup.own_board = plan.own_board;
  setup.against = args.value("--against");
  setup.threads = std::max(1, cores() / plan.jobs);
  setup.golden = args.is_set("--golden");
  setup.mutate = plan.run.mutate;
  setup.options = plan.run;
  OPWRIGHT_TRY_ASSIGN(setup.hello_seconds, start_seconds_of(args));
  if (!is_device_program(setup.device) && !is_device_program(setup.against)) setup.memory = memory;
  for (const std::string& name : {setup.device, setup.against}) {
    if (!is_device_program(name)) continue;
    OPWRIGHT_TRY_ASSIGN(DeviceProgram program, device_program(name, args.value("--python")));
    setup.programs.push_back(std::move(program));
  }
  return setup;
}

Result<RunnerOptions> runner_options_of(const ParsedArgs& args, const PlanOptions& plan, const WorkerSetup& setup,
                                        std::int64_t memory, std::size_t cases) {
  RunnerOptions runner;
  runner.worker = {{"/proc/self/exe", "worker"}, to_json(setup)};
  runner.jobs = std::min<int>(plan.jobs, static_cast<int>(cases));
  // The device's program gives up first, and says why; there may be two of them.
  constexpr double kMargin = 30;
  runner.start_seconds =
      setup.hello_seconds * static_cast<double>(std::max<std::size_t>(1, setup.programs.size())) + kMargin;
  runner.worker_bytes = memory;
  OPWRIGHT_TRY_ASSIGN(const std::size_t cpu, count_of(args, "--cpu-seconds", 0));
  runner.cpu_seconds = static_cast<double>(cpu);
  runner.attribute = !args.is_set("--no-attribute");
  runner.fail_fast = args.is_set("--fail-fast");
  runner.canary = canary_line(plan);
  runner.reset_command = args.value("--reset-cmd");
  return runner;
}

// What the device says of itself belongs to the record, and which process runs it.
void add_facts(RunRecord& run, const json::Node& hello, const RunnerOptions& runner) {
  run.numerics = hello.string_field("numerics").value_or("");
  JsonObject versions;
  if (const json::Node* given = hello.find("versions"); given != nullptr && given->is(json::Kind::kObject))
    for (std::uint32_t i = 0; i < given->count; ++i) versions.add(given->fields[i].key, given->fields[i].value.text);
  run.facts = JsonObject()
                  .add("cores", std::int64_t{cores()})
                  .add("memory", runner.worker_bytes)
                  .add("jobs", std::int64_t{runner.jobs})
                  .add_raw("versions", versions.text())
                  .add(store::kProcessFact, to_text(own_identity()))
                  .text();
}

// Why a run did not come to its end, and what is left of it.
Error broken_off(const Error& why, bool begun, std::int64_t results, const RunRecord& run) {
  if (!begun) return {why.code, fmt::format("{}\nno case was run, and no run was stored", why.message)};
  return {
      why.code,
      fmt::format("{}\nthe run was broken off: {} of {} {} in the store; 'opwright run --resume --run {}' "
                  "goes on when that is mended",
                  why.message, grouped(results), plural(run.planned, "case"), results == 1 ? "is" : "are", run.uid)};
}

void explain_workers(const RunnerSummary& ran, CommandEnv& env) {
  if (ran.died + ran.hung + ran.repetitions > 0)
    env.err << fmt::format("opwright: {} started: {} died, {} hung, {} recycled; {} to find who is to blame\n",
                           plural(ran.workers, "worker"), ran.died, ran.hung, ran.recycled,
                           plural(ran.repetitions, "repetition"));
  if (!ran.stopped.empty()) env.err << fmt::format("opwright: stopped: {}\n", ran.stopped);
}

Result<int> print_analysis(const std::string& uid, int wait, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(auto reader, store::ResultsReader::open(env.store, wait));
  OPWRIGHT_TRY_ASSIGN(const RunRecord run, reader.find_run(uid));
  report::Analyser analyser(run, {.worst = 3});
  OPWRIGHT_TRY(reader.for_each(uid, [&](CaseRecord&& record) -> Status {
    analyser.add(record);
    return {};
  }));
  const report::Analysis analysis = analyser.finish();
  print_object(report::analysis_json(analysis),
               {{"run", uid},
                {"total", std::to_string(analysis.total)},
                {"passed", std::to_string(analysis.passed)},
                {"failed", std::to_string(analysis.failed)}},
               report::analysis_text(analysis, {.width = static_cast<std::size_t>(env.width)}), env);
  const bool something = analysis.passed > 0 || analysis.undecided > 0;
  return analysis.failed == 0 && analysis.disagreed == 0 && something ? kExitOk : kExitDifference;
}

}  // namespace

Result<int> run_many(const ParsedArgs& given, CommandEnv& env, const RunOptions& given_options) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(given));
  const bool resume = given.is_set("--resume") || !given.value("--run").empty();
  Resumed before{.run = {}, .args = given};
  RunOptions options = given_options;
  if (resume) {
    OPWRIGHT_TRY_ASSIGN(before, resumed(given, env, wait));
    if (before.run.status == "complete") {
      env.err << fmt::format("opwright: run {} is complete; nothing to resume\n", before.run.uid);
      return kExitOk;
    }
    if (before.run.status == "unknown")
      env.err << fmt::format(
          "opwright: run {} was begun on {}, whose processes cannot be seen from here: if it still runs, both write "
          "into "
          "it\n",
          before.run.uid, before.run.host);
    OPWRIGHT_TRY_ASSIGN(options, run_options_of(before.args));
  }
  const ParsedArgs& args = before.args;

  OPWRIGHT_TRY_ASSIGN(const PlanOptions plan_options, plan_options_of(args, options));
  OPWRIGHT_TRY_ASSIGN(RunPlan plan, plan_run(args, env, plan_options));
  explain_plan(plan, env);
  if (args.is_set("--dry-run")) {
    print_plan(plan, env);
    return kExitOk;
  }
  if (plan.chosen.empty())
    return fail(
        ErrorCode::kNotFound,
        "no case to run: the store, the selector or the shard leaves none ('opwright vectors' shows what there is)");
  if (resume && digest_of(before.run) != plan.digest)
    return fail(ErrorCode::kBadInput,
                fmt::format("run {} had other cases than the store gives now; start a new run", before.run.uid));

  OPWRIGHT_TRY_ASSIGN(const std::int64_t memory, bytes_of(args, "--memory", machine_bytes() / 10 * 8));
  OPWRIGHT_TRY_ASSIGN(const WorkerSetup setup, worker_setup_of(args, plan_options, memory));
  OPWRIGHT_TRY_ASSIGN(RunnerOptions runner, runner_options_of(args, plan_options, setup, memory, plan.chosen.size()));
  Interrupts interrupts;
  runner.interrupts = interrupts.count();
  runner.wake = interrupts.wake();

  OPWRIGHT_TRY_ASSIGN(auto results,
                      store::ResultsWriter::open(
                          env.store, wait,
                          args.is_set(kDurableFlag.name) ? store::Durability::kEveryCommit : store::Durability::kSoon));
  RunRecord run = resume ? before.run : new_run_record(given, args, plan);
  if (!resume) run.seed = options.recipe.seed;

  std::vector<std::uint32_t> waiting;
  for (const std::uint32_t index : plan.chosen)
    if (!before.done.contains(index)) waiting.push_back(index);
  RunQueue queue(plan.spool.cases(), waiting, memory);
  double seconds = 0;
  for (const std::uint32_t index : waiting) seconds += static_cast<double>(plan.spool.cases()[index].seconds);
  RunView view(env.live(), view_options(env, args.is_set("--quiet")));
  view.start({.total = static_cast<std::int64_t>(plan.chosen.size()),
              .done_before = static_cast<std::int64_t>(before.done.size()),
              .seconds = seconds,
              .slots = runner.jobs});
  RunnerWorld world;
  bool begun = resume;  // it is in the store
  std::vector<bool> in_store(plan.spool.size());
  for (const std::int64_t index : before.stored) in_store.at(static_cast<std::size_t>(index)) = true;
  auto stored = static_cast<std::int64_t>(before.stored.size());
  world.hello = [&](const json::Node& hello) -> Status {  // a run is one when a device answers
    add_facts(run, hello, runner);
    if (resume) return results.resume(run.uid, run.facts);
    OPWRIGHT_TRY(results.begin(run));
    begun = true;
    return {};
  };
  world.next = [&]() -> Result<std::optional<std::string>> {
    const auto index = queue.next();
    if (!index) return std::optional<std::string>();
    OPWRIGHT_TRY_ASSIGN(std::string line, plan.spool.read(*index));
    return std::optional<std::string>(std::move(line));
  };
  world.keep = [&](const CaseRecord& raw) -> Status {
    CaseRecord record = raw;
    expect_failure(record);
    OPWRIGHT_TRY(results.add(run.uid, record));
    // A failure comes again when its blame is known; and a resumed run may do one again.
    auto&& known = in_store.at(static_cast<std::size_t>(record.index));
    if (!known) ++stored;
    known = true;
    return {};
  };
  world.started = [&](int slot, const Job& job) {
    const auto& planned = plan.spool.cases()[static_cast<std::size_t>(job.record.index)];
    view.case_started(slot, job.record.op, job.record.line, static_cast<double>(planned.seconds));
  };
  world.step = [&](int slot, std::string_view text) { view.slot_note(slot, text); };
  world.ended = [&](int slot, const CaseRecord& raw) {
    CaseRecord record = raw;
    expect_failure(record);
    queue.ended(static_cast<std::uint32_t>(record.index));
    view.case_ended(slot, record);
  };
  world.tick = [&] { view.tick(); };
  world.note = [&](const std::string& text) { view.note(text); };
  const auto ran = run_cases(runner, world);
  view.finish(!ran ? "broken off" : ran->interrupted ? "interrupted" : "");
  const bool complete = ran && !ran->interrupted && ran->stopped.empty();
  const Status ended = begun ? results.end(run.uid, complete ? "complete" : "interrupted", utc_now()) : Status();
  if (!ran) return fail(broken_off(ran.error(), begun, stored, run));
  explain_workers(*ran, env);
  if (!ended) return fail(broken_off(ended.error(), begun, stored, run));
  OPWRIGHT_TRY_ASSIGN(const int code, print_analysis(run.uid, wait, env));
  if (!ran->interrupted) return code;
  env.err << "opwright: interrupted; 'opwright run --resume' goes on\n";
  return kExitInterrupted;
}

}  // namespace opwright::cli

#include "cli/run_many.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/clock.h"
#include "base/json_object.h"
#include "base/subprocess.h"
#include "cli/device_program.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/query.h"
#include "cli/run_plan.h"
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

std::string new_uid() {
  std::string now = utc_now();  // 2026-11-15T20:09:21.123Z -> 20261115T200921.123
  std::erase_if(now, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  return fmt::format("{}-{}", now, getpid());
}

std::string git_commit() {
  const char* path = std::getenv("PATH");
  const auto git = find_program("git", path == nullptr ? "/usr/bin" : path);
  if (!git) return "";
  const auto said = capture({*git, "rev-parse", "HEAD"}, {.seconds = 5});
  if (!said || said->status != 0) return "";
  return said->out.substr(0, said->out.find('\n'));
}

// The command line again, for the record.
std::string command_text(const ParsedArgs& args) {
  std::string text = "opwright run";
  for (const auto& [flag, values] : args.values)
    for (const std::string& value : values) text += fmt::format(" {} {}", flag, shell_quoted(value));
  for (const auto& [flag, set] : args.switches)
    if (set) text += " " + flag;
  return text;
}

// The flags that decide which cases a run has and where they run, as JSON; --resume takes them back.
constexpr std::array kPlanFlags{"--where",     "--suite",   "--suites", "--op",     "--limit",   "--count",
                                "--randomize", "--vectors", "--shard",  "--budget", "--device",  "--against",
                                "--seed",      "--data",    "--pcc",    "--sample", "--timeout", "--python"};
constexpr std::array kPlanSwitches{"--dedupe", "--keep-invalid", "--check", "--golden", "--mutate", "--warm"};

std::string plan_json(const ParsedArgs& args, const RunPlan& plan) {
  JsonObject flags;
  for (const char* flag : kPlanFlags)
    if (const auto values = args.all(flag); !values.empty()) flags.add_raw(flag, json_array(values, false));
  for (const char* name : kPlanSwitches)
    if (args.is_set(name)) flags.add_raw(name, "true");
  return JsonObject()
      .add_raw("flags", flags.text())
      .add("cases", static_cast<std::int64_t>(plan.chosen.size()))
      .add("digest", plan.digest)
      .text();
}

// The command line of the run that is continued.
Result<ParsedArgs> resumed_args(const ParsedArgs& args, const RunRecord& run) {
  for (const char* flag : kPlanFlags)
    if (!args.all(flag).empty())
      return fail(ErrorCode::kUsage,
                  fmt::format("--resume takes the cases of the interrupted run; {} cannot change them", flag));
  json::Document document;
  const auto root = document.parse(run.plan);
  const json::Node* flags = root ? (*root)->find("flags") : nullptr;
  if (flags == nullptr || !flags->is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput, fmt::format("run {} has no plan that could be continued", run.uid));
  ParsedArgs out = args;
  for (std::uint32_t i = 0; i < flags->count; ++i) {
    const json::Field& field = flags->fields[i];
    if (field.value.is_true()) {
      out.switches[std::string(field.key)] = true;
      continue;
    }
    for (const json::Node& value : field.value) out.values[std::string(field.key)].emplace_back(value.text);
  }
  return out;
}

std::string digest_of(const RunRecord& run) {
  json::Document document;
  const auto root = document.parse(run.plan);
  return root ? std::string((*root)->string_field("digest").value_or("")) : "";
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

}  // namespace

Result<int> run_many(const ParsedArgs& given, CommandEnv& env, const RunOptions& given_options) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(given));
  ParsedArgs args = given;
  RunRecord run;
  const bool resume = given.is_set("--resume") || !given.value("--run").empty();
  std::set<std::int64_t> done;
  if (resume) {
    OPWRIGHT_TRY_ASSIGN(auto reader, store::ResultsReader::open(env.store, wait));
    OPWRIGHT_TRY_ASSIGN(run, reader.find_run(given.value("--run", "last")));
    if (run.status == "complete") {
      env.err << fmt::format("opwright: run {} is complete; nothing to resume\n", run.uid);
      return kExitOk;
    }
    OPWRIGHT_TRY_ASSIGN(args, resumed_args(given, run));
    // A failure that nobody was blamed for was interrupted while it was being repeated: it runs again.
    OPWRIGHT_TRY(reader.for_each(run.uid, [&](CaseRecord&& record) -> Status {
      if (!Attribution::wanted(record.outcome) || record.blame != Blame::kNobody || given.is_set("--no-attribute"))
        done.insert(record.index);
      return {};
    }));
  }
  RunOptions options = given_options;
  if (resume) {
    OPWRIGHT_TRY_ASSIGN(options, run_options_of(args));
  }

  PlanOptions plan_options;
  plan_options.device = args.value("--device", "sim");
  plan_options.own_board = plan_options.device == "sim";
  OPWRIGHT_TRY_ASSIGN(const std::size_t jobs, count_of(args, "--jobs", static_cast<std::size_t>(cores())));
  if (jobs == 0 || jobs > 1024) return fail(ErrorCode::kUsage, "--jobs: from 1 to 1024");
  plan_options.jobs = static_cast<int>(jobs);
  plan_options.run = options;
  if (const std::size_t colon = plan_options.device.rfind(':'); colon != std::string::npos)
    if (const std::string board = plan_options.device.substr(colon + 1); find_board(board))
      plan_options.usual_board = board;

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
  if (resume && digest_of(run) != plan.digest)
    return fail(ErrorCode::kBadInput,
                fmt::format("run {} had other cases than the store gives now; start a new run", run.uid));

  if (args.is_set("--golden") && !args.value("--against").empty())
    return fail(ErrorCode::kUsage, "--golden and --against: one second opinion at a time");
  WorkerSetup setup;
  setup.device = plan_options.device;
  setup.own_board = plan_options.own_board;
  setup.against = args.value("--against");
  setup.threads = std::max(1, cores() / plan_options.jobs);
  setup.golden = args.is_set("--golden");
  setup.mutate = args.is_set("--mutate");
  setup.options = options;
  setup.options.capture = true;
  setup.options.compute = !args.is_set("--check");
  setup.options.repeat = args.is_set("--warm") ? 2 : 1;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t memory, bytes_of(args, "--memory", machine_bytes() / 10 * 8));
  if (!is_device_program(setup.device) && !is_device_program(setup.against)) setup.memory = memory;
  for (const std::string& name : {setup.device, setup.against}) {
    if (!is_device_program(name)) continue;
    OPWRIGHT_TRY_ASSIGN(DeviceProgram program, device_program(name, args.value("--python")));
    setup.programs.push_back(std::move(program));
  }

  Interrupts interrupts;
  RunnerOptions runner;
  runner.worker = {{"/proc/self/exe", "worker"}, to_json(setup)};
  runner.jobs = std::min<int>(plan_options.jobs, static_cast<int>(plan.chosen.size()));
  runner.worker_bytes = memory;
  OPWRIGHT_TRY_ASSIGN(const std::size_t cpu, count_of(args, "--cpu-seconds", 0));
  runner.cpu_seconds = static_cast<double>(cpu);
  runner.attribute = !args.is_set("--no-attribute");
  runner.fail_fast = args.is_set("--fail-fast");
  runner.canary = canary_line(plan_options);
  runner.reset_command = args.value("--reset-cmd");
  runner.interrupts = interrupts.count();
  runner.wake = interrupts.wake();

  OPWRIGHT_TRY_ASSIGN(auto results, store::ResultsWriter::open(env.store, wait));
  if (resume) {
    OPWRIGHT_TRY(results.resume(run.uid));
  } else {
    run.uid = new_uid();
    run.started = utc_now();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    run.host = host;
    run.device = plan_options.device;
    run.against = setup.against;
    run.command = command_text(given);
    run.git_commit = git_commit();
    run.version = OPWRIGHT_VERSION;
    run.suite = args.value("--vectors", args.value("--suites", args.value("--suite", "model_traced")));
    run.plan = plan_json(args, plan);
    run.status = "running";
    run.seed = options.recipe.seed;
    run.planned = static_cast<std::int64_t>(plan.chosen.size());
  }

  std::vector<std::uint32_t> waiting;
  for (const std::uint32_t index : plan.chosen)
    if (!done.contains(index)) waiting.push_back(index);
  RunQueue queue(plan.spool.cases(), waiting, memory);
  double seconds = 0;
  for (const std::uint32_t index : waiting) seconds += static_cast<double>(plan.spool.cases()[index].seconds);
  RunView view(env.err, view_options(env, args.is_set("--quiet")));
  view.start({.total = static_cast<std::int64_t>(plan.chosen.size()),
              .done_before = static_cast<std::int64_t>(done.size()),
              .seconds = seconds,
              .slots = runner.jobs});
  RunnerWorld world;
  bool begun = resume;
  // A run is one when a device answers: what it is and runs on belongs to the record.
  world.hello = [&](const json::Node& hello) -> Status {
    if (begun) return {};
    begun = true;
    run.numerics = hello.string_field("numerics").value_or("");
    JsonObject versions;
    if (const json::Node* given_versions = hello.find("versions"))
      for (std::uint32_t i = 0; i < given_versions->count; ++i)
        versions.add(given_versions->fields[i].key, given_versions->fields[i].value.text);
    run.facts = JsonObject()
                    .add("cores", std::int64_t{cores()})
                    .add("memory", memory)
                    .add("jobs", std::int64_t{runner.jobs})
                    .add_raw("versions", versions.text())
                    .text();
    return results.begin(run);
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
    return results.add(run.uid, record);
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
  view.finish(ran && ran->interrupted ? "interrupted" : "");
  const bool complete = ran && !ran->interrupted && ran->stopped.empty();
  if (begun) OPWRIGHT_TRY(results.end(run.uid, complete ? "complete" : "interrupted", utc_now()));
  if (!ran) return fail(ran.error());
  if (ran->died + ran->hung + ran->repetitions > 0)
    env.err << fmt::format("opwright: {} started: {} died, {} hung, {} recycled; {} to find who is to blame\n",
                           plural(ran->workers, "worker"), ran->died, ran->hung, ran->recycled,
                           plural(ran->repetitions, "repetition"));
  if (!ran->stopped.empty()) env.err << fmt::format("opwright: stopped: {}\n", ran->stopped);

  OPWRIGHT_TRY_ASSIGN(auto reader, store::ResultsReader::open(env.store, wait));
  OPWRIGHT_TRY_ASSIGN(run, reader.find_run(run.uid));
  report::Analyser analyser(run, {.worst = 3});
  OPWRIGHT_TRY(reader.for_each(run.uid, [&](CaseRecord&& record) -> Status {
    analyser.add(record);
    return {};
  }));
  const report::Analysis analysis = analyser.finish();
  print_object(report::analysis_json(analysis),
               {{"run", run.uid},
                {"total", std::to_string(analysis.total)},
                {"passed", std::to_string(analysis.passed)},
                {"failed", std::to_string(analysis.failed)}},
               report::analysis_text(analysis, {.width = static_cast<std::size_t>(env.width)}), env);
  const bool something = analysis.passed > 0 || analysis.undecided > 0;
  const int code = analysis.failed == 0 && analysis.disagreed == 0 && something ? kExitOk : kExitDifference;
  if (ran->interrupted) {
    env.err << fmt::format("opwright: interrupted; 'opwright run --resume' goes on\n");
    return kExitInterrupted;
  }
  return code;
}

}  // namespace opwright::cli

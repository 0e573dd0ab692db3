#include "jobs/run_setup.h"

#include <unistd.h>

#include <algorithm>

#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/record_of.h"
#include "jobs/device_program.h"

namespace opwright::jobs {
namespace {

std::int64_t machine_bytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

std::vector<Canary> make_canaries(const PlanOptions& options) {
  std::vector<Canary> canaries;
  for (const std::string_view line : canary_cases()) {
    vectors::TestVector vector;
    vector.suite = "canary";
    vector.config = *parse_case(line);
    vector.id = "canary";
    Job job = job_of(vector, -1, options.device());
    if (options.own_board()) job.board = "n150";
    canaries.push_back({job.record.op, to_json(job)});
  }
  return canaries;
}

}  // namespace

int machine_cores() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

Result<PlanOptions> plan_options(const RunRequest& request, const RunWatcher& watcher) {
  if (request.jobs < 0 || request.jobs > 1024) return fail(ErrorCode::kUsage, "--jobs: from 1 to 1024");
  PlanOptions options;
  options.choice = request.choice;
  options.place = {request.store, request.wait_ms, watcher.announce};
  options.jobs = request.jobs > 0 ? request.jobs : machine_cores();
  OPWRIGHT_TRY_ASSIGN(options.run, case_options(request.choice));
  for (const std::string& device : {options.device(), request.choice.against}) OPWRIGHT_TRY(check_device_name(device));
  return options;
}

std::int64_t memory_of(const RunRequest& request) {
  return request.memory > 0 ? request.memory : machine_bytes() / 10 * 8;
}

Result<WorkerSetup> worker_setup(const PlanOptions& plan, std::int64_t memory) {
  const RunChoice& choice = plan.choice;
  WorkerSetup setup;
  setup.device = plan.device();
  setup.own_board = plan.own_board();
  setup.against = choice.against;
  setup.threads = std::max(1, machine_cores() / plan.jobs);
  setup.golden = choice.golden;
  setup.mutate = choice.mutate;
  setup.options = plan.run;
  setup.hello_seconds = choice.start_seconds.value_or(ProgramLimits::kHelloSeconds);
  if (!is_device_program(setup.device) && !is_device_program(setup.against)) setup.memory = memory;
  for (const std::string& name : {setup.device, setup.against}) {
    if (!is_device_program(name)) continue;
    OPWRIGHT_TRY_ASSIGN(DeviceProgram program, device_program(name, choice.python));
    setup.programs.push_back(std::move(program));
  }
  return setup;
}

RunnerOptions runner_options(const RunRequest& request, const PlanOptions& plan, const WorkerSetup& setup,
                             std::size_t cases) {
  RunnerOptions runner;
  runner.worker = {request.worker, to_json(setup)};
  runner.jobs = std::min<int>(plan.jobs, static_cast<int>(cases));
  // The device's program gives up first, and says why; there may be two of them.
  constexpr double kMargin = 30;
  runner.start_seconds =
      setup.hello_seconds * static_cast<double>(std::max<std::size_t>(1, setup.programs.size())) + kMargin;
  runner.worker_bytes = memory_of(request);
  runner.cpu_seconds = request.cpu_seconds;
  runner.attribute = request.attribute;
  runner.attribute_all = request.attribute_all;
  runner.fail_fast = request.fail_fast;
  runner.canaries = make_canaries(plan);
  runner.reset_command = request.reset_command;
  return runner;
}

}  // namespace opwright::jobs

#include "cli/run_request.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/secrets.h"
#include "base/words.h"
#include "cli/perf_flags.h"
#include "jobs/named_case.h"

namespace opwright::cli {
namespace {

Result<jobs::RunChoice> choice_of(const ParsedArgs& args) {
  jobs::RunChoice choice;
  for (const std::string_view field : jobs::choice_fields()) {
    const bool on = jobs::is_switch(field) && args.is_set(field);
    OPWRIGHT_TRY(jobs::set_field(choice, field, on ? jobs::Texts{"true"} : args.all(field)));
  }
  return choice;
}

// The command line again, for the record; what it keeps secret stays out.
std::string command_text(const ParsedArgs& args) {
  std::string text = "opwright run";
  for (const auto& [flag, values] : args.values)
    for (const std::string& value : values) text += fmt::format(" {} {}", flag, shell_quoted(masked(value)));
  for (const auto& [flag, set] : args.switches)
    if (set) text += " " + flag;
  return text;
}

// "8G", "512M", bytes; 0 where the flag was not given
Result<std::int64_t> bytes_of(const ParsedArgs& args, std::string_view flag) {
  const std::string text = args.value(flag);
  if (text.empty()) return 0;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const double factor = unit == "G" || unit == "GB" ? 1e9 : unit == "M" || unit == "MB" ? 1e6 : unit.empty() ? 1 : 0;
  if (end == text.c_str() || factor == 0 || !(number > 0))
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a size like 8G, 512M or a number of bytes", flag, text));
  constexpr double kLeast = 32 << 20;
  if (number * factor < kLeast)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: {} is less than a worker needs; write 8G or 512M", flag, text,
                                               size_text(static_cast<std::int64_t>(number * factor))));
  return static_cast<std::int64_t>(number * factor);
}

Result<int> jobs_of(const ParsedArgs& args) {
  if (args.value("--jobs").empty()) return 0;
  OPWRIGHT_TRY_ASSIGN(const std::size_t jobs, count_of(args, "--jobs", 0));
  if (jobs == 0 || jobs > 1024) return fail(ErrorCode::kUsage, "--jobs: from 1 to 1024");
  return static_cast<int>(jobs);
}

Status set_attribution(const ParsedArgs& args, jobs::RunRequest& request) {
  const std::string which = args.value("--attribute", "once");
  if (which != "once" && which != "all" && which != "none")
    return fail(ErrorCode::kUsage, fmt::format("--attribute: no '{}'; once, all or none", which));
  request.attribute = which != "none" && !args.is_set("--no-attribute");
  request.attribute_all = which == "all";
  return {};
}

}  // namespace

Result<jobs::RunRequest> run_request_of(const ParsedArgs& args, const CommandEnv& env) {
  if (!args.value("--metric").empty())
    return fail(ErrorCode::kUsage, "--metric is for a single case; give it together with --case");
  if (!args.all("--after").empty())
    return fail(ErrorCode::kUsage, "--after names what runs before a single case; give it together with --case");
  jobs::RunRequest request;
  request.store = env.store;
  OPWRIGHT_TRY_ASSIGN(request.wait_ms, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(request.choice, choice_of(args));
  if (args.is_set("--resume") || !args.value("--run").empty()) request.resume = args.value("--run", "last");
  request.dry_run = args.is_set("--dry-run");
  request.command = command_text(args);
  OPWRIGHT_TRY_ASSIGN(request.jobs, jobs_of(args));
  OPWRIGHT_TRY_ASSIGN(request.memory, bytes_of(args, "--memory"));
  OPWRIGHT_TRY_ASSIGN(const std::size_t cpu, count_of(args, "--cpu-seconds", 0));
  request.cpu_seconds = static_cast<double>(cpu);
  OPWRIGHT_TRY(set_attribution(args, request));
  request.fail_fast = args.is_set("--fail-fast");
  request.reset_command = args.value("--reset-cmd");
  OPWRIGHT_TRY_ASSIGN(request.perf, perf_plan_of(args));
  request.perf_force = args.is_set("--perf-force");
  request.profile_csv = args.value("--profile-csv");
  request.durable = args.is_set(kDurableFlag.name);
  return request;
}

Result<jobs::SingleRun> single_run_of(const ParsedArgs& args, const CommandEnv& env) {
  jobs::SingleRun single;
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(single.line, jobs::case_line_of(args.value("--case"), env.store, wait));
  single.recorded = args.value("--recorded");
  for (const std::string& line : args.all("--after")) {
    OPWRIGHT_TRY_ASSIGN(std::string before, jobs::case_line_of(line, env.store, wait));
    single.after.push_back(std::move(before));
  }
  OPWRIGHT_TRY_ASSIGN(single.choice, choice_of(args));
  if (const std::string name = args.value("--metric"); !name.empty()) {
    single.metric = parse_pcc_variant(name);
    if (!single.metric)
      return fail(ErrorCode::kUsage,
                  fmt::format("--metric: no '{}'; pcc, pcc-2026-06, pcc-corrcoef or pcc-tt-lib", name));
  }
  return single;
}

}  // namespace opwright::cli

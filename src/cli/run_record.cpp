#include "cli/run_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/subprocess.h"
#include "cli/output.h"

namespace opwright::cli {
namespace {

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
constexpr std::array kPlanFlags{"--where",  "--suite",     "--suites",  "--op",           "--limit",
                                "--count",  "--randomize", "--vectors", "--shard",        "--budget",
                                "--device", "--against",   "--seed",    "--data",         "--pcc",
                                "--sample", "--timeout",   "--python",  "--start-timeout"};
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

}  // namespace

RunRecord new_run_record(const ParsedArgs& given, const ParsedArgs& args, const RunPlan& plan) {
  RunRecord run;
  run.uid = new_uid();
  run.started = utc_now();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  run.host = host;
  run.device = args.value("--device", "sim");
  run.against = args.value("--against");
  run.command = command_text(given);
  run.git_commit = git_commit();
  run.version = OPWRIGHT_VERSION;
  run.suite = args.value("--vectors", args.value("--suites", args.value("--suite", "model_traced")));
  run.plan = plan_json(args, plan);
  run.status = "running";
  run.planned = static_cast<std::int64_t>(plan.chosen.size());
  return run;
}

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

}  // namespace opwright::cli

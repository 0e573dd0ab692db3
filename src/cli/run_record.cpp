#include "cli/run_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/secrets.h"
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

// The command line again, for the record; what it keeps secret stays out.
std::string command_text(const ParsedArgs& args) {
  std::string text = "opwright run";
  for (const auto& [flag, values] : args.values)
    for (const std::string& value : values) text += fmt::format(" {} {}", flag, shell_quoted(masked(value)));
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

std::vector<std::string> all_masked(const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& value : values) out.push_back(masked(value));
  return out;
}

std::string plan_json(const ParsedArgs& args, const RunPlan& plan) {
  JsonObject flags;
  std::vector<std::string> hidden;  // flags whose values are not stored as they were given
  for (const char* flag : kPlanFlags) {
    const auto values = args.all(flag);
    if (values.empty()) continue;
    const auto stored = all_masked(values);
    flags.add_raw(flag, json_array(stored, false));
    if (stored != values) hidden.emplace_back(flag);
  }
  for (const char* name : kPlanSwitches)
    if (args.is_set(name)) flags.add_raw(name, "true");
  JsonObject object;
  object.add_raw("flags", flags.text())
      .add("cases", static_cast<std::int64_t>(plan.chosen.size()))
      .add("digest", plan.digest);
  if (!hidden.empty()) object.add_raw("masked", json_array(hidden, false));
  return object.text();
}

}  // namespace

RunRecord new_run_record(const ParsedArgs& given, const ParsedArgs& args, const RunPlan& plan) {
  RunRecord run;
  run.uid = new_uid();
  run.started = utc_now();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  run.host = host;
  run.device = masked(args.value("--device", "sim"));
  run.against = masked(args.value("--against"));
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
  json::Document document;
  const auto root = document.parse(run.plan);
  const json::Node* flags = root ? (*root)->find("flags") : nullptr;
  if (flags == nullptr || !flags->is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput, fmt::format("run {} has no plan that could be continued", run.uid));
  std::vector<std::string> hidden;
  if (const json::Node* list = (*root)->find("masked"))
    for (const json::Node& flag : *list) hidden.emplace_back(flag.text);
  const auto is_hidden = [&](std::string_view flag) { return std::ranges::find(hidden, flag) != hidden.end(); };
  for (const char* flag : kPlanFlags)
    if (!args.all(flag).empty() && !is_hidden(flag))
      return fail(ErrorCode::kUsage,
                  fmt::format("--resume takes the cases of the interrupted run; {} cannot change them", flag));
  for (const std::string& flag : hidden) {
    std::vector<std::string> stored;
    if (const json::Node* values = flags->find(flag))
      for (const json::Node& value : *values) stored.emplace_back(value.text);
    if (args.all(flag).empty())
      return fail(ErrorCode::kUsage,
                  fmt::format("run {} was started with a secret in {}, which is not stored; give it "
                              "again: --resume {} {}",
                              run.uid, flag, flag, shell_quoted(stored.empty() ? "" : stored.back())));
    if (all_masked(args.all(flag)) != stored)
      return fail(ErrorCode::kUsage, fmt::format("--resume: {} differs in more than its secret from that of run {}, {}",
                                                 flag, run.uid, shell_quoted(stored.empty() ? "" : stored.back())));
  }
  ParsedArgs out = args;
  for (std::uint32_t i = 0; i < flags->count; ++i) {
    const json::Field& field = flags->fields[i];
    if (is_hidden(field.key)) continue;  // given again
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

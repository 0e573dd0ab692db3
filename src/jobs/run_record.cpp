#include "jobs/run_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/secrets.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace opwright::jobs {
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

Texts all_masked(const Texts& values) {
  Texts out;
  for (const std::string& value : values) out.push_back(masked(value));
  return out;
}

std::string plan_json(const RunChoice& choice, const RunPlan& plan) {
  JsonObject flags;
  Texts hidden;  // fields whose values are not stored as they were given
  for (const std::string_view field : choice_fields()) {
    const Texts values = texts_of(choice, field);
    if (values.empty()) continue;
    if (is_switch(field)) {
      flags.add_raw(field, "true");
      continue;
    }
    const Texts stored = all_masked(values);
    flags.add_raw(field, json_array(stored, false));
    if (stored != values) hidden.emplace_back(field);
  }
  JsonObject object;
  object.add_raw("flags", flags.text())
      .add("cases", static_cast<std::int64_t>(plan.chosen.size()))
      .add("digest", plan.digest);
  if (!hidden.empty()) object.add_raw("masked", json_array(hidden, false));
  return object.text();
}

}  // namespace

RunRecord new_run_record(const RunChoice& choice, const std::string& command, const RunPlan& plan) {
  RunRecord run;
  run.uid = new_uid();
  run.started = utc_now();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  run.host = host;
  run.device = masked(choice.device.value_or("sim"));
  run.against = masked(choice.against);
  run.command = command;
  run.git_commit = git_commit();
  run.version = OPWRIGHT_VERSION;
  run.suite = !choice.vectors.empty()  ? choice.vectors
              : !choice.suites.empty() ? choice.suites
                                       : choice.suite.value_or("model_traced");
  run.plan = plan_json(choice, plan);
  run.seed = choice.seed.value_or(1);
  run.status = "running";
  run.planned = static_cast<std::int64_t>(plan.chosen.size());
  return run;
}

Result<RunChoice> resumed_choice(const RunChoice& given, const RunRecord& run) {
  json::Document document;
  const auto root = document.parse(run.plan);
  const json::Node* flags = root ? (*root)->find("flags") : nullptr;
  if (flags == nullptr || !flags->is(json::Kind::kObject))
    return fail(ErrorCode::kBadInput, fmt::format("run {} has no plan that could be continued", run.uid));
  Texts hidden;
  if (const json::Node* list = (*root)->find("masked"))
    for (const json::Node& field : *list) hidden.emplace_back(field.text);
  const auto is_hidden = [&](std::string_view field) { return std::ranges::find(hidden, field) != hidden.end(); };
  for (const std::string_view field : choice_fields())
    if (!is_switch(field) && !texts_of(given, field).empty() && !is_hidden(field))
      return fail(ErrorCode::kUsage,
                  fmt::format("--resume takes the cases of the interrupted run; {} cannot change them", field));
  const auto stored_texts = [](const json::Node& values) {
    Texts texts;
    for (const json::Node& value : values) texts.emplace_back(value.text);
    return texts;
  };
  for (const std::string& field : hidden) {
    const json::Node* values = flags->find(field);
    const Texts stored = values != nullptr ? stored_texts(*values) : Texts();
    const Texts again = texts_of(given, field);
    if (again.empty())
      return fail(ErrorCode::kUsage,
                  fmt::format("run {} was started with a secret in {}, which is not stored; give it "
                              "again: --resume {} {}",
                              run.uid, field, field, shell_quoted(stored.empty() ? "" : stored.back())));
    if (all_masked(again) != stored)
      return fail(ErrorCode::kUsage, fmt::format("--resume: {} differs in more than its secret from that of run {}, {}",
                                                 field, run.uid, shell_quoted(stored.empty() ? "" : stored.back())));
  }
  RunChoice choice = given;
  for (std::uint32_t i = 0; i < flags->count; ++i) {
    const json::Field& field = flags->fields[i];
    if (is_hidden(field.key)) continue;  // given again
    const Texts texts = field.value.is_true() ? Texts{"true"} : stored_texts(field.value);
    if (const Status taken = set_field(choice, field.key, texts); !taken)
      return fail(ErrorCode::kBadInput,
                  fmt::format("run {} has no plan that could be continued: {}", run.uid, taken.error().message));
  }
  return choice;
}

std::string digest_of(const RunRecord& run) {
  json::Document document;
  const auto root = document.parse(run.plan);
  return root ? std::string((*root)->string_field("digest").value_or("")) : "";
}

}  // namespace opwright::jobs

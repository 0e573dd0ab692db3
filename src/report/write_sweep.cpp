// docs/formats/results.md, "sweep": the files that the existing framework's runner leaves, for the tools that read
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/file_name.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_object.h"
#include "base/json_write.h"
#include "base/text.h"
#include "dialect/ttnn/sweep_modules.h"
#include "model/case_line.h"
#include "model/config_fields.h"
#include "report/exports.h"

namespace opwright::report {
namespace {

std::string digest(std::string_view text) { return to_hex(sha256(text)); }

// NOT_RUN is "skipped" in result files; the other names are the enum's in lower case.
std::string status_of(Outcome outcome) {
  std::string name(sweep_status(outcome));
  if (name == "NOT_RUN") return "skipped";
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string module_of(const std::string& op) {
  std::string module = module_of_traced(op);
  return module.empty() ? module_of_case_lines(op) : module;
}

// "2026-11-15T20:00:00.5Z" + 0.25 -> "2026-11-15T20:00:00.750000Z"; a text that is no time stays as it is
std::string later(const std::string& started, double seconds) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  if (std::sscanf(started.c_str(), "%d-%d-%dT%d:%d:%lf", &year, &month, &day, &hour, &minute, &second) != 6)
    return started;
  using namespace std::chrono;
  const sys_days date = std::chrono::year(year) / month / day;
  const auto time = date + hours(hour) + minutes(minute) + microseconds(std::llround((second + seconds) * 1e6));
  const auto midnight = floor<days>(time);
  const year_month_day ymd(midnight);
  const auto micros = duration_cast<microseconds>(time - midnight).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), micros / 3'600'000'000,
                     micros / 60'000'000 % 60, micros / 1'000'000 % 60, micros % 1'000'000);
}

// "2026-11-15T20:00:00Z" -> "20261115_200000"
std::string stamp_of(const std::string& started) {
  std::string digits;
  for (const char c : started.substr(0, 19))
    if (c >= '0' && c <= '9') digits += c;
  return digits.size() == 14 ? digits.substr(0, 8) + "_" + digits.substr(8) : "00000000_000000";
}

std::string metrics_json(const CaseRecord& record) {
  std::map<std::string, double> metrics;  // sorted, as the framework writes them
  const double call = record.device_seconds * 1e3;
  if (record.cold_seconds) {
    metrics["e2e_perf_uncached_ms"] = *record.cold_seconds * 1e3;
    metrics["e2e_perf_cached_ms"] = call;
  } else if (call > 0) {
    metrics["e2e_perf_ms"] = call;
  }
  if (record.kernel_seconds) metrics["device_DEVICE KERNEL DURATION [ns]"] = *record.kernel_seconds * 1e9;
  if (record.l1_per_core > 0) metrics["peak_l1_memory_per_core_bytes"] = static_cast<double>(record.l1_per_core);
  if (metrics.empty()) return "null";
  std::vector<std::string> items;
  for (const auto& [name, value] : metrics)
    items.push_back(JsonObject().add("metric_name", name).add_raw("metric_value", json::float_text(value)).text());
  return json_array(items, true);
}

// Fields of the configuration under our names for them; numbers as numbers, lists as JSON, the rest as text.
std::string parameters_json(const CaseRecord& record, Exported& exported) {
  std::vector<std::string> items;
  json::Document document;
  const auto add = [&](std::string_view name, const std::string& text) {
    std::string numeric = "null", plain = "null", list = "null";
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number))
      numeric = json::float_text(number);
    else if (text.starts_with('[') && document.parse(text).has_value())
      list = text;
    else
      plain = json_string(text);
    items.push_back(JsonObject()
                        .add("param_name", name)
                        .add_raw("param_value_numeric", numeric)
                        .add_raw("param_value_text", plain)
                        .add_raw("param_value_json", list)
                        .text());
  };
  const auto config = parse_case(record.line);
  if (config) {
    for (const auto& [field, text] : flatten(*config)) add(field, text);
  } else {
    ++exported.not_expressible["parameters: the case line is not one; only its text is written"];
    add("case", record.line);
  }
  return json_array(items, true);
}

// The framework's own rule: the hash of the traced configuration where the vector carries one. Ours has no meaning
// there, but tells results apart.
const std::string& input_hash_of(const CaseRecord& record) {
  if (!record.config_hash.empty()) return record.config_hash;
  return record.key.empty() ? record.vector : record.key;
}

std::string record_json(const RunRecord& run, const CaseRecord& record, const std::string& module, Exported& exported) {
  const std::string status = status_of(record.outcome);
  const bool success = status == "pass" || status == "xfail";
  const std::string reason = record.reason.empty() ? std::string(name_of(record.outcome)) : record.reason;
  const std::string error = success ? "None" : reason;
  const std::string message = success && record.pcc ? json::float_text(*record.pcc) : reason;
  std::string models = record.models;
  for (std::size_t at = models.find(','); at != std::string::npos; at = models.find(',', at + 2))
    if (models[at + 1] != ' ') models.insert(at + 1, " ");
  return JsonObject()
      .add_raw("github_job_id", "null")
      .add("full_test_name", module)
      .add("test_start_ts", later(record.started, 0))
      .add("test_end_ts", later(record.started, record.wall_seconds))
      .add("test_case_name", record.suite)
      .add("filepath", module)
      .add_bool("success", success)
      .add_bool("skipped", status == "skipped")
      .add("error_message", error)
      .add("error_hash", digest(error))
      .add_raw("config", "null")
      .add("frontend", "ttnn.op")
      .add("model_name", models.empty() ? "n/a" : std::string_view(models))
      .add("op_kind", std::string_view(module).substr(0, module.find('.')))
      .add("op_name", last_part(module, "."))
      .add("framework_op_name", "sweep")
      .add_raw("inputs", "null")
      .add_raw("outputs", "null")
      .add_raw("op_params", "null")
      .add("git_sha", run.git_commit)
      .add("status", status)
      .add("card_type", run.device)
      .add("backend", "n/a")
      .add("data_source", "ttnn op test")
      .add("input_hash", input_hash_of(record))
      .add("message", message)
      .add_raw("exception", success ? "null" : json_string(reason))
      .add_raw("metrics", metrics_json(record))
      .add_raw("op_params_set", parameters_json(record, exported))
      .text();
}

Result<std::string> indented(const std::string& compact) {
  json::Document document;
  const auto root = document.parse(compact);
  if (!root) return fail(ErrorCode::kBadInput, fmt::format("a result is no sound text: {}", root.error().what));
  std::string text;
  json::append_python(text, **root, {.indent = 2});
  return text + "\n";
}

}  // namespace

Result<Exported> write_sweep(const std::string& folder, const RunRecord& run, const ResultStream& results) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(ErrorCode::kIo, fmt::format("{}: cannot make the folder: {}", folder, problem.message()));
  Exported exported;
  std::map<std::string, std::string> modules;  // name -> its records, comma separated
  std::string tests;
  std::set<std::string> contents;
  std::int64_t failed = 0, passed = 0;
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    ++exported.results;
    const std::string module = module_of(record.op);
    const std::string text = record_json(run, record, module, exported);
    std::string& records = modules[module];
    records += (records.empty() ? "" : ", ") + text;
    tests += (tests.empty() ? "" : ", ") + text;
    contents.insert(fmt::format("{}, {}", module.substr(0, module.find('.')), record.suite));
    // What a record calls a failure is one of the run too, whatever our own totals say.
    failed += standing_of(record.outcome) == Standing::kFailed || status_of(record.outcome).starts_with("fail") ? 1 : 0;
    passed += record.outcome == Outcome::kPassed ? 1 : 0;
    if (standing_of(record.outcome) == Standing::kUndecided && record.outcome != Outcome::kXfailed)
      ++exported.not_expressible[fmt::format("outcome {}: written as {}", name_of(record.outcome),
                                             status_of(record.outcome))];
    return {};
  }));
  const std::string stamp = stamp_of(run.started);
  const auto write = [&](const std::string& name, const std::string& compact) -> Status {
    OPWRIGHT_TRY_ASSIGN(const std::string text, indented(compact));
    exported.files.push_back(folder + "/" + name);
    exported.bytes += static_cast<std::int64_t>(text.size());
    return write_into(folder, name, text);
  };
  for (const auto& [module, records] : modules)
    OPWRIGHT_TRY(
        write(fmt::format("{}_{}_{}.json", module.substr(0, module.find('.')), digest(module).substr(0, 12), stamp),
              "[" + records + "]"));
  std::string run_contents;
  for (const std::string& one : contents) run_contents += (run_contents.empty() ? "" : "; ") + one;
  const bool whole = run.status == "complete" && exported.results >= run.planned && passed > 0;
  const std::string oprun = JsonObject()
                                .add("initiated_by", "unknown")
                                .add("host", run.host)
                                .add("card_type", run.device)
                                .add("run_type", "sweeps")
                                .add("run_contents", run_contents)
                                .add("git_author", "Unknown")
                                .add("git_branch_name", "Unknown")
                                .add("git_sha", run.git_commit)
                                .add_raw("github_pipeline_id", "null")
                                .add("run_start_ts", later(run.started, 0))
                                .add("run_end_ts", later(run.ended.empty() ? run.started : run.ended, 0))
                                .add("status", failed > 0 ? "fail"
                                               : whole    ? "passed"
                                                          : "did_not_finish")
                                .add_raw("tests", "[" + tests + "]")
                                .text();
  OPWRIGHT_TRY(
      write(fmt::format("oprun_{}_{}_{}.json", file_name_part(run.host, 40), digest(run_contents).substr(0, 12), stamp),
            oprun));
  return exported;
}

}  // namespace opwright::report

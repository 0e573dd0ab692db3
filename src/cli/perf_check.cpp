#include "jobs/perf_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--targets", "FILE", "targets with margins, JSON or YAML (docs/formats/perf-targets.md)"},
    Flag{"--window", "NAME", "only this window (default: every one that the targets name)"},
    Flag{"--allow-missing", "", "a figure without a target does not fail"},
    Flag{"--allow-incomplete", "", "rows or devices without a time do not fail"},
    Flag{"--iterations", "N", "that each window has N iterations (default: found as the period of its operations)"},
    Flag{"--device", "N", "only rows of this device"},
    Flag{"--write-targets", "FILE", "write the figures of FILE as targets, instead of checking them"},
    Flag{"--margin", "PERCENT", "--write-targets: the margin (default 10)"},
    Flag{"--replace", "", "--write-targets: write over a file that is there"},
};

constexpr char kDetails[] =
    "Kernel time and op-to-op time of each window, and of each operation that the targets name, against a target and\n"
    "its margin; too slow fails, and with `sides: both` too fast as well. A target that is missing fails, so does one\n"
    "for what the report does not have. Exit status 1: something failed.\n\n"
    "  opwright perf check ops_perf_results.csv --write-targets targets.yaml\n"
    "  opwright perf check ops_perf_results.csv --targets targets.yaml";

Result<int> write(const ParsedArgs& args, const jobs::PerfRequest& perf, CommandEnv& env) {
  jobs::BaselineRequest request{
      .perf = perf, .file = args.value("--write-targets"), .replace = args.is_set("--replace")};
  if (const std::string text = args.value("--margin"); !text.empty()) {
    char* end = nullptr;
    request.margin_percent = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(request.margin_percent >= 0) || request.margin_percent > 1e6)
      return fail(ErrorCode::kUsage, fmt::format("--margin {}: a number of percent is needed", text));
  }
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> windows, jobs::write_targets(request));
  JsonObject object;
  object.add("file", request.file).add_raw("windows", json_array(windows, false));
  print_object(object, {{"file", request.file}, {"windows", std::to_string(windows.size())}},
               fmt::format("{}: targets of {}\n", visible(request.file),
                           plural(static_cast<std::int64_t>(windows.size()), "window")),
               env);
  return kExitOk;
}

std::string in_us(double ns) { return perf::has(ns) ? fmt::format("{:.2f}", ns / 1000) : "-"; }

std::string words_of(perf::GateOutcome outcome) {
  switch (outcome) {
    case perf::GateOutcome::kTooHigh:
      return "TOO SLOW";
    case perf::GateOutcome::kTooLow:
      return "TOO FAST for the target";
    case perf::GateOutcome::kTargetMissing:
      return "NO TARGET";
    case perf::GateOutcome::kFigureMissing:
      return "NOT IN THE REPORT";
    case perf::GateOutcome::kIncomplete:
      return "INCOMPLETE: rows or devices without a time";
    case perf::GateOutcome::kOtherSequence:
      return "OTHER OPERATIONS than the targets were made for";
    default:
      return std::string(name_of(outcome));
  }
}

Table table_of(const std::vector<perf::GateCheck>& checks) {
  Table table{{{"window"},
               {"operation"},
               {"figure"},
               {"value us", true},
               {"target us", true},
               {"margin us", true},
               {"%", true},
               {"outcome"}},
              {}};
  for (const perf::GateCheck& one : checks) {
    const bool is_count = one.figure == "positions";
    const auto shown = [&](double value) {
      return is_count && perf::has(value) ? std::to_string(static_cast<std::int64_t>(value)) : in_us(value);
    };
    const double percent = 100 * (one.value - one.target.value) / one.target.value;
    std::string margin = perf::has(one.target.value) && !is_count ? in_us(one.target.margin()) : "-";
    if (perf::has(one.target.value) && !is_count && one.target.sides == perf::Sides::kBoth) margin += " both";
    table.rows.push_back({one.window, one.op, one.figure, shown(one.value), shown(one.target.value), margin,
                          std::isfinite(percent) ? fmt::format("{:+.1f}", percent) : "-", words_of(one.outcome)});
  }
  return table;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  jobs::PerfRequest perf{.paths = args.positionals, .window = args.value("--window")};
  OPWRIGHT_TRY_ASSIGN(const std::size_t iterations, count_of(args, "--iterations", 0));
  perf.iterations = static_cast<std::int64_t>(iterations);
  if (!args.value("--device").empty()) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t device, count_of(args, "--device", 0));
    perf.device = static_cast<std::int64_t>(device);
  }
  const bool writes = !args.value("--write-targets").empty();
  const std::string targets = args.value("--targets");
  if (writes == !targets.empty())
    return fail(ErrorCode::kUsage, "perf check: either --targets FILE to check, or --write-targets FILE to write them");
  if (writes) return write(args, perf, env);
  if (args.is_set("--replace") || !args.value("--margin").empty())
    return fail(ErrorCode::kUsage, "perf check: --replace and --margin belong to --write-targets");
  OPWRIGHT_TRY_ASSIGN(const std::vector<perf::GateCheck> checks,
                      jobs::check_perf({.perf = perf,
                                        .targets = targets,
                                        .allow_missing = args.is_set("--allow-missing"),
                                        .allow_incomplete = args.is_set("--allow-incomplete")}));
  std::int64_t failed = 0, passed = 0;
  for (const perf::GateCheck& one : checks) {
    failed += is_failure(one.outcome) ? 1 : 0;
    passed += one.outcome == perf::GateOutcome::kPassed ? 1 : 0;
  }
  if (env.format == OutputFormat::kTable || env.format == OutputFormat::kCsv) {
    print(table_of(checks), env);
    if (env.format == OutputFormat::kTable)
      env.out << fmt::format("\n{} passed, {} failed, {} unchecked\n", passed, failed,
                             static_cast<std::int64_t>(checks.size()) - passed - failed);
  } else {
    print_object(perf::gate_json(args.positionals.front(), targets, checks), {}, "", env);
  }
  // Where nothing was checked nothing passed.
  return failed == 0 && passed > 0 ? kExitOk : kExitDifference;
}

}  // namespace

const Command kPerfCheck{
    "perf check", "Hold a profiler report to its targets, or write them.", kDetails, "FILE", 1, 1, kFlags, run, false,
    true};

}  // namespace opwright::cli

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/near_names.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "jobs/generate_tests.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--to", "KIND",
         "pytest (default): files for pytest, torch and ttnn; cases: case lines and a GoogleTest program"},
    Flag{"--output", "DIR", "the folder that files are written into (short: -o)"},
    kWhereFlag,
    Flag{"--op", "OP", "only this operation, e.g. add, ttnn.add (may be repeated)", true},
    Flag{"--failed", "RUN", "only what failed in this run: last, last~1, or the beginning of its id"},
    Flag{"--update", "", "rewrite our blocks in files that are there; what people added stays"},
    Flag{"--all-ops", "", "of PATH: every operation, also those that an import leaves out"},
    Flag{"--include-failed", "", "of PATH: also calls of tests that did not pass"},
    kWaitFlag,
};
constexpr std::array<std::string_view, 2> kKinds{"pytest", "cases"};

constexpr char kDetails[] =
    "PATH is a trace of any format or a store; without one, configurations come from the store.\n\n"
    "  opwright gentest -o op_tests\n"
    "  opwright gentest model.opwt --op linear -o op_tests\n"
    "  opwright gentest --failed last -o failing_ops\n"
    "  opwright gentest --to cases -o cpp_tests\n\n"
    "pytest files need nothing of opwright: pytest op_tests on hardware, 'opwright mock --board n150 -- pytest "
    "op_tests'\n"
    "without. Files of the same configurations are the same, byte for byte.";

Result<jobs::GenerateOptions> options_of(const ParsedArgs& args, const CommandEnv& env) {
  jobs::GenerateOptions options;
  OPWRIGHT_TRY_ASSIGN(options.question, question_of(args, env));
  const std::string kind = args.value("--to", "pytest");
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    const auto near = near_names(kind, kKinds);
    return fail(ErrorCode::kUsage, fmt::format("--to {}: no such kind of tests{} Choose pytest or cases", kind,
                                               near.empty() ? "." : did_you_mean(near)));
  }
  options.kind = kind == "pytest" ? jobs::TestKind::kPytest : jobs::TestKind::kCases;
  options.folder = args.value("--output");
  if (options.folder.empty()) return fail(ErrorCode::kUsage, "gentest writes files into a folder: add -o DIR");
  options.paths = args.positionals;
  options.ops = args.all("--op");
  options.failed_run = args.value("--failed");
  options.update = args.is_set("--update");
  options.all_ops = args.is_set("--all-ops");
  options.include_failed = args.is_set("--include-failed");
  if (options.paths.empty() && (options.all_ops || options.include_failed))
    return fail(ErrorCode::kUsage, "--all-ops and --include-failed: a store has what was imported; name a PATH");
  return options;
}

std::string operations_json(const jobs::GenerateReport& report) {
  std::vector<std::string> rows;
  for (const auto& [op, counts] : report.operations)
    rows.push_back(JsonObject()
                       .add("operation", op)
                       .add("configurations", counts.configurations)
                       .add("generated", counts.generated)
                       .add("expected_to_fail", counts.expected_to_fail)
                       .text());
  return json_array(rows, true);
}

std::string text_of(const jobs::GenerateReport& report, const jobs::GenerateOptions& options) {
  const auto operations = static_cast<std::int64_t>(report.operations.size());
  std::string text =
      fmt::format("{}: {} of {}: {} generated", visible(options.folder), plural(report.configurations, "configuration"),
                  plural(operations, "operation"), grouped(report.generated));
  if (report.expected_to_fail > 0) text += fmt::format(", {} of them expected to fail", report.expected_to_fail);
  text += fmt::format("\n{} written, {} unchanged", plural(static_cast<std::int64_t>(report.written.size()), "file"),
                      report.unchanged.size());
  if (report.blocks_removed > 0) text += fmt::format(", {} blocks removed", report.blocks_removed);
  text += "\n";
  const auto without = report.references.find("None");
  if (without != report.references.end())
    text +=
        fmt::format("{} without a reference for numbers: only specs are checked\n", plural(without->second, "test"));
  for (const auto& [reason, count] : by_count(report.not_generated))
    text += fmt::format("NOT GENERATED {}: {}, e.g. {}\n", count, visible(reason),
                        visible(report.examples.at(reason).substr(0, 160)));
  const jobs::ImportReport& imported = report.imported;
  if (!imported.filtered.empty())
    text += fmt::format("filtered out: {}: {} (--all-ops keeps them)\n", plural(sum_of(imported.filtered), "call"),
                        count_list(imported.filtered, 8));
  for (const auto& [kind, lost] : imported.losses)
    text += fmt::format("LOST {}: {}, e.g. {}\n", lost.count, visible(kind), visible(lost.example));
  if (!report.left.empty())
    text += fmt::format("left as they are, nothing is generated for them now: {}\n", fmt::join(report.left, ", "));
  return text;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::GenerateOptions options, options_of(args, env));
  OPWRIGHT_TRY_ASSIGN(const jobs::GenerateReport report, jobs::generate_tests(options));
  std::map<std::string, std::int64_t> losses;
  for (const auto& [kind, lost] : report.imported.losses) losses[kind] = lost.count;
  JsonObject object;
  object.add("folder", options.folder)
      .add("configurations", report.configurations)
      .add("generated", report.generated)
      .add("expected_to_fail", report.expected_to_fail)
      .add_raw("not_generated", counts_json(report.not_generated))
      .add_raw("references", counts_json(report.references))
      .add_raw("filtered", counts_json(report.imported.filtered))
      .add_raw("losses", counts_json(losses))
      .add_raw("written", json_array(report.written, false))
      .add_raw("unchanged", json_array(report.unchanged, false))
      .add("blocks_removed", static_cast<std::int64_t>(report.blocks_removed))
      .add_raw("left", json_array(report.left, false))
      .add_raw("operations", operations_json(report));
  print_object(object,
               {{"configurations", std::to_string(report.configurations)},
                {"generated", std::to_string(report.generated)},
                {"expected_to_fail", std::to_string(report.expected_to_fail)},
                {"written", std::to_string(report.written.size())},
                {"unchanged", std::to_string(report.unchanged.size())}},
               text_of(report, options), env);
  return kExitOk;
}

}  // namespace

const Command kGentest{"gentest", "Write op unit tests from recorded configurations: pytest, or cases for C++.",
                       kDetails,  "[PATH…]",
                       0,         -1,
                       kFlags,    run,
                       false,     true};

}  // namespace opwright::cli

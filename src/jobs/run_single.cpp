#include "jobs/run_single.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/large_memory.h"
#include "base/words.h"
#include "exec/case_line.h"
#include "exec/record_of.h"
#include "exec/run_external.h"
#include "jobs/device_program.h"

namespace opwright::jobs {

Result<SingleReport> run_single(const SingleRun& asked) {
  reuse_large_blocks();
  const RunChoice& choice = asked.choice;
  OPWRIGHT_TRY_ASSIGN(RunOptions options, case_options(choice));
  options.variant = asked.metric;
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(asked.line));
  if (!asked.recorded.empty()) {
    json::Document document;
    const auto list = document.parse(asked.recorded);
    if (!list || !(*list)->is(json::Kind::kArray))
      return fail(ErrorCode::kUsage, "--recorded: no JSON array, as a repeat line has it");
    OPWRIGHT_TRY_ASSIGN(options.recorded, parse_returns(**list));
  }
  ProgramSettings settings{.python = choice.python};
  if (choice.start_seconds) settings.start_seconds = *choice.start_seconds;
  OPWRIGHT_TRY_ASSIGN(const auto device, open_any_device(choice.device.value_or("sim:n150"), settings));
  for (const std::string& line : asked.after) {
    OPWRIGHT_TRY_ASSIGN(const OpConfig before, parse_case(line));
    run_case(before, *device, options);
  }
  RunOptions first = options;
  first.keep_outputs = !choice.against.empty();
  SingleReport report;
  report.line = case_line(config);
  report.device = device->can();
  report.result = run_case(config, *device, first);
  report.record.notes = fmt::format("{}", fmt::join(report.result.notes, "; "));
  if (choice.golden) fill_golden(run_golden(config, *device, options), report.record);
  if (!choice.against.empty()) {
    OPWRIGHT_TRY_ASSIGN(const auto second, open_any_device(choice.against, settings));
    fill_against(report.result, run_case(config, *second, first), second->can(), report.record);
  }
  report.repeat = repeat_command(report.line, report.device.name, options.recipe) + repeat_flags(choice);
  for (const std::string& line : asked.after) report.repeat += " --after " + shell_quoted(line);
  if (!asked.recorded.empty()) report.repeat += " --recorded " + shell_word(asked.recorded);
  return report;
}

}  // namespace opwright::jobs

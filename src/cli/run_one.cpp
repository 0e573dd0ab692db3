#include "cli/run_one.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/value_json.h"
#include "base/large_memory.h"
#include "cli/device_program.h"
#include "cli/output.h"
#include "cli/run_options.h"
#include "exec/case_line.h"
#include "exec/record_of.h"
#include "exec/run_external.h"

namespace opwright::cli {
namespace {

std::string result_text(const CaseResult& result, const CaseRecord& record, std::string_view repeat) {
  std::string text = fmt::format("{}", name_of(result.outcome));
  if (!result.argument.empty()) text += fmt::format(" [{}]", result.argument);
  if (!result.reason.empty()) text += ": " + result.reason;
  text += '\n';
  if (!result.assumed.empty())
    text += fmt::format("  assumed as not passed, because the trace lost them: {}\n", fmt::join(result.assumed, ", "));
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    text += fmt::format("  output {}: {}\n", i, app::tensor_line(result.outputs[i].spec));
    if (i < result.verdicts.size()) {
      const std::string verdict = to_text(result.verdicts[i]);
      for (std::size_t at = 0; at < verdict.size();) {
        const std::size_t end = std::min(verdict.find('\n', at), verdict.size());
        text += "    " + verdict.substr(at, end - at) + '\n';
        at = end + 1;
      }
    }
  }
  if (result.outcome != Outcome::kNotRun && !result.verdicts.empty())
    text += fmt::format("  device {:.3f} s, reference and judge {:.3f} s, L1 {} a core, DRAM {}\n", result.seconds,
                        result.reference_seconds, size_text(result.memory.l1_per_core), size_text(result.memory.dram));
  if (result.faults > 0)
    text += fmt::format("  planted faults: {} of {} noticed\n", result.faults_noticed, result.faults);
  if (!record.against.empty())
    text +=
        fmt::format("  against {}{}{}\n", record.against, record.disagreement.empty() ? "" : ": ", record.disagreement);
  if (!record.notes.empty()) text += fmt::format("  note: {}\n", record.notes);
  return text + fmt::format("  repeat: {}\n", repeat);
}

JsonObject result_json(const CaseResult& result, const CaseRecord& record, std::string_view line, const Device& device,
                       std::string_view repeat) {
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    JsonObject output;
    output.add_raw("spec", app::value_json(Value::tensor(result.outputs[i].spec)))
        .add_raw("padded_shape", to_text(result.outputs[i].padded));
    if (i < result.verdicts.size()) output.add_raw("verdict", to_json(result.verdicts[i]));
    outputs.push_back(output.text());
  }
  return JsonObject()
      .add("outcome", name_of(result.outcome))
      .add("reason", result.reason)
      .add("argument", result.argument)
      .add_raw("assumed", json_array(result.assumed, false))
      .add("case", line)
      .add("device", device.can().name)
      .add("numerics", name_of(device.can().numerics))
      .add_raw("outputs", json_array(outputs, true))
      .add("l1_per_core", result.memory.l1_per_core)
      .add("dram", result.memory.dram)
      .add_number("seconds", result.seconds)
      .add_number("reference_seconds", result.reference_seconds)
      .add("faults", result.faults)
      .add("faults_noticed", result.faults_noticed)
      .add("against", record.against)
      .add("disagreement", record.disagreement)
      .add("notes", record.notes)
      .add("repeat", repeat);
}

}  // namespace

Result<int> run_one(const ParsedArgs& args, CommandEnv& env, const RunOptions& options) {
  reuse_large_blocks();
  const std::string line = args.value("--case");
  OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(line));
  OPWRIGHT_TRY_ASSIGN(const auto device, open_any_device(args.value("--device", "sim:n150"), args));
  const std::string against = args.value("--against");
  RunOptions first = options;
  first.keep_outputs = !against.empty();
  const CaseResult result = run_case(config, *device, first);
  CaseRecord record;  // notes, and the second opinion
  record.notes = fmt::format("{}", fmt::join(result.notes, "; "));
  if (args.is_set("--golden")) fill_golden(run_golden(config, *device, options), record);
  if (!against.empty()) {
    OPWRIGHT_TRY_ASSIGN(const auto second, open_any_device(against, args));
    fill_against(result, run_case(config, *second, first), second->can(), record);
  }
  const std::string repeat = repeat_command(case_line(config), device->can().name, options.recipe) + repeat_flags(args);
  print_object(result_json(result, record, case_line(config), *device, repeat),
               {{"outcome", std::string(name_of(result.outcome))}, {"reason", result.reason}, {"case", line}},
               result_text(result, record, repeat), env);
  const bool well = result.outcome == Outcome::kPassed || result.outcome == Outcome::kAccepted;
  return well && record.disagreement.empty() ? kExitOk : kExitDifference;
}

}  // namespace opwright::cli

#include "cli/run_one.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output.h"
#include "jobs/ending.h"
#include "jobs/value_text.h"
#include "model/call_json.h"

namespace opwright::cli {
namespace {

std::string result_text(const jobs::SingleReport& report) {
  const CaseResult& result = report.result;
  const CaseRecord& record = report.record;
  std::string text = fmt::format("{}", name_of(result.outcome));
  if (!result.argument.empty()) text += fmt::format(" [{}]", result.argument);
  if (!result.reason.empty()) text += ": " + result.reason;
  text += '\n';
  if (!result.evidence.empty()) text += fmt::format("  {}\n", result.evidence);
  if (!result.assumed.empty())
    text += fmt::format("  assumed as not passed, because the trace lost them: {}\n", fmt::join(result.assumed, ", "));
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    text += fmt::format("  output {}: {}\n", i, jobs::tensor_line(result.outputs[i].spec));
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
  return text + fmt::format("  repeat: {}\n", report.repeat);
}

JsonObject result_json(const jobs::SingleReport& report) {
  const CaseResult& result = report.result;
  const CaseRecord& record = report.record;
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    JsonObject output;
    output.add_raw("spec", shown_value(Value::tensor(result.outputs[i].spec)))
        .add_raw("padded_shape", to_text(result.outputs[i].padded));
    if (i < result.verdicts.size()) output.add_raw("verdict", to_json(result.verdicts[i]));
    outputs.push_back(output.text());
  }
  return JsonObject()
      .add("outcome", name_of(result.outcome))
      .add("reason", result.reason)
      .add("argument", result.argument)
      .add("evidence", result.evidence)
      .add_raw("assumed", json_array(result.assumed, false))
      .add("case", report.line)
      .add("device", report.device.name)
      .add("numerics", name_of(report.device.numerics))
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
      .add("repeat", report.repeat);
}

}  // namespace

Result<int> run_one(const jobs::SingleRun& asked, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const jobs::SingleReport report, jobs::run_single(asked));
  const CaseResult& result = report.result;
  print_object(result_json(report),
               {{"outcome", std::string(name_of(result.outcome))}, {"reason", result.reason}, {"case", asked.line}},
               result_text(report), env);
  return jobs::exit_code(jobs::ending_of(report));
}

}  // namespace opwright::cli

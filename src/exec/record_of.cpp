#include "exec/record_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/json_object.h"
#include "exec/case_line.h"
#include "exec/differ.h"
#include "model/call_json.h"

namespace opwright {
namespace {

const TensorSpec* first_tensor(const Value& value) {
  if (const TensorSpec* spec = value.as_tensor()) return spec;
  if (const List* list = value.as_list(); list != nullptr && !list->empty()) return list->front().as_tensor();
  return nullptr;
}

// Of several outputs the worse figure; NaN (a side without spread) is the worst.
void keep_worse(std::optional<double>& kept, double value, bool smaller_is_worse) {
  if (!kept || std::isnan(value) || (smaller_is_worse ? value < *kept : value > *kept)) kept = value;
}

}  // namespace

Job job_of(const vectors::TestVector& vector, std::int64_t index, std::string_view device) {
  Job job;
  CaseRecord& record = job.record;
  record.index = index;
  record.vector = vector.id;
  record.key = vector.key;
  record.config_hash = vector.config_hash;
  record.op = vector.config.op;
  record.suite = vector.suite;
  record.line = case_line(vector.config);
  record.recipe = vector.recipe;
  record.repeat = repeat_command(record.line, device, record.recipe);
  record.models = vector.models;
  record.calls = vector.calls;
  for (const Argument& argument : vector.config.args) {
    const TensorSpec* spec = first_tensor(argument.value);
    if (spec == nullptr) continue;
    if (spec->dtype.present()) record.dtype = spec->dtype.name();
    if (spec->layout.present()) record.layout = spec->layout.name();
    if (spec->memory) record.memory = fmt::format("{} {}", spec->memory->buffer.name(), spec->memory->layout.name());
    break;
  }
  job.pcc = vector.pcc;
  if (vector.seconds) job.seconds = *vector.seconds;
  return job;
}

void fill_record(const CaseResult& result, const Capabilities& device, CaseRecord& record) {
  record.outcome = result.outcome;
  record.reason = result.reason;
  record.argument = result.argument;
  record.blame = result.blame;
  record.evidence = result.evidence;
  std::vector<std::string> notes = result.notes;
  if (!result.assumed.empty())
    notes.push_back(
        fmt::format("assumed as not passed, because the trace lost them: {}", fmt::join(result.assumed, ", ")));
  std::vector<std::string> verdicts, outputs;
  for (const Verdict& verdict : result.verdicts) {
    verdicts.push_back(to_json(verdict));
    for (const std::string& note : verdict.notes) notes.push_back(note);
    record.judged += verdict.metrics.compared + verdict.nonfinite.agreed + verdict.nonfinite.disagreed;
    if (verdict.metrics.compared == 0) continue;
    if (verdict.judged_by != JudgedBy::kExact || verdict.metrics.spread > 0)
      keep_worse(record.pcc, verdict.metrics.pcc, true);
    // A result near zero is far from right in its own ULP and right all the same: its bound judges it. The largest ULP
    // would be of such elements alone, and of sums, which cancel everywhere, even this one.
    if (verdict.metrics.excess == 0) keep_worse(record.ulp, verdict.metrics.ulp_p99, false);
    keep_worse(record.nrmse, verdict.metrics.nrmse, false);
    if (const WorstElement& worst = verdict.metrics.worst; worst.index >= 0 && worst.bound > 0)
      keep_worse(record.bound_used, std::abs(worst.actual - worst.expected) / worst.bound, false);
  }
  for (const OutputSpec& output : result.outputs) outputs.push_back(encode_output(output));
  if (!verdicts.empty()) record.verdicts = json_array(verdicts, true);
  if (!outputs.empty()) record.outputs = json_array(outputs, true);
  record.notes = fmt::format("{}", fmt::join(notes, "; "));
  if (result.proof) {
    record.fields = result.proof->fields;
    record.fields_equal = result.proof->equal;
    record.differences = fmt::format("{}", fmt::join(result.proof->differences, "; "));
  }
  record.faults = result.faults;
  record.faults_noticed = result.faults_noticed;
  record.unnoticed = fmt::format("{}", fmt::join(result.unnoticed, ", "));
  record.device_seconds = result.seconds;
  record.cold_seconds = result.cold_seconds;
  record.kernel_seconds = result.kernel_seconds;
  record.reference_seconds = result.reference_seconds;
  if (device.memory_report) {
    record.l1_per_core = result.memory.l1_per_core;
    record.dram = result.memory.dram;
  }
  for (const OutputSpec& output : result.outputs) record.elements += volume(output.spec.shape);
}

void fill_against(const CaseResult& first, const CaseResult& second, const Capabilities& device, CaseRecord& record) {
  record.against = name_of(second.outcome);
  const std::vector<std::string> differences = disagreements(first, second);
  if (!differences.empty()) record.disagreement = fmt::format("{}: {}", device.name, fmt::join(differences, "; "));
}

void fill_golden(const CaseResult& golden, CaseRecord& record) {
  record.against = name_of(golden.outcome);
  if (golden.outcome == Outcome::kFailed)
    record.disagreement = "golden function: " + golden.reason;
  else if (golden.outcome != Outcome::kPassed)
    record.notes += fmt::format("{}golden function: {}", record.notes.empty() ? "" : "; ", golden.reason);
}

}  // namespace opwright

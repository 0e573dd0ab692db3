#include "exec/run_external.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "dialect/dialect.h"
#include "exec/executed_trace.h"
#include "exec/output_fields.h"
#include "exec/python_call.h"
#include "model/quantize.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

// More elements than that are not made for a call that nobody judges.
constexpr std::int64_t kMostPlain = std::int64_t{1} << 30;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void refused(CaseResult& result, const Refusal& refusal) {
  result.outcome = outcome_of(refusal);
  result.reason = refusal.message;
  result.argument = refusal.argument;
}

// The call for the device: a Python call as it was recorded, a C++ one as Python would make it.
Checked<BoundCall> call_to_send(const OpConfig& config) {
  if (std::string why = why_not_run(config.op); !why.empty()) return unsupported("", std::move(why));
  if (config.convention == Convention::kPython) return BoundCall(config.op, config.convention, config.args);
  return python_call(config);
}

// For each tensor of the sent call the place of the same tensor in the planned one; nothing where that cannot be told.
std::optional<std::vector<std::size_t>> planned_slots(const BoundCall& sent, const PlannedCall& plan) {
  std::vector<std::size_t> out;
  for (const TensorSlot& tensor : sent.tensors) {
    const Param* param = find_param(*plan.op, Convention::kPython, tensor.param);
    if (param == nullptr) return std::nullopt;
    const auto slot = plan.call.slot(param->name, tensor.item);
    if (!slot || plan.call.tensors[*slot].spec.shape != tensor.spec.shape) return std::nullopt;
    out.push_back(*slot);
  }
  if (out.size() != plan.call.tensors.size()) return std::nullopt;
  return out;
}

// Plain numbers for a call that nobody here knows.
Checked<std::vector<HostTensor>> plain_inputs(const BoundCall& call, const DataRecipe& recipe) {
  std::int64_t left = kMostPlain;
  for (const TensorSlot& slot : call.tensors) {
    if (!slot.spec.has_shape || !slot.spec.dtype.present())
      return lost(slot.param, fmt::format("the trace does not say the shape or the dtype of {}", slot.param));
    if (!computed(slot.spec.dtype.value))
      return unsupported(slot.param, fmt::format("{} has dtype {}", slot.param, slot.spec.dtype.name()));
    for (std::int64_t elements = 1; const std::int64_t n : slot.spec.shape) {
      if (n < 0 || (n > 0 && elements > left / n))
        return unsupported(
            slot.param, fmt::format("{} of {} elements: no data is made for it", slot.param, to_text(slot.spec.shape)));
      elements *= n;
    }
    left -= volume(slot.spec.shape);
  }
  static const OpSpec kPlain{};
  return make_inputs(kPlain, call, recipe);
}

// Everything that goes to the device, and what comes back is judged with.
struct Prepared {
  BoundCall sent;
  std::vector<HostTensor> inputs;   // in the order of sent.tensors; empty: no data
  std::vector<HostTensor> planned;  // in the order of the plan's; empty: the same
  std::vector<Rows> rows;           // of each output
};

Checked<Prepared> prepare(BoundCall sent, const Checked<PlannedCall>& plan, bool with_data, const RunOptions& options,
                          const std::vector<HostTensor>* given = nullptr) {
  Prepared out{.sent = std::move(sent)};
  if (!with_data || !options.compute) return out;
  if (!plan && given != nullptr) {
    out.inputs = *given;
    return out;
  }
  if (!plan) {
    OPWRIGHT_CHECK_ASSIGN(out.inputs, plain_inputs(out.sent, options.recipe));
    return out;
  }
  out.planned = given != nullptr ? *given : make_inputs(*plan->op, plan->call, options.recipe);
  for (std::size_t o = 0; o < plan->outputs.size(); ++o) out.rows.push_back(pick_rows(*plan, out.planned, o, options));
  if (const auto slots = planned_slots(out.sent, *plan)) {
    for (const std::size_t slot : *slots) out.inputs.push_back(out.planned[slot]);
  } else {
    out.sent = plan->call;  // by the names of its parameters, since positions do not tell which tensor is which
    out.inputs = out.planned;
  }
  return out;
}

void read_trace_of(const DeviceResult& ran, const std::string& op, CaseResult& result) {
  if (ran.trace.empty()) return;
  auto executed = read_executed(ran.trace, op);
  if (executed)
    result.executed = *std::move(executed);
  else
    result.notes.push_back(fmt::format("what was executed could not be read: {}", executed.error().message));
}

// Values that are not of the promised shape and dtype cannot be compared with anything.
bool other_values(const std::vector<OutputSpec>& promised, const std::vector<OutputSpec>& reported) {
  if (reported.empty()) return false;
  if (promised.size() != reported.size()) return true;
  for (std::size_t i = 0; i < promised.size(); ++i)
    if (promised[i].spec.shape != reported[i].spec.shape ||
        promised[i].spec.dtype.value != reported[i].spec.dtype.value)
      return true;
  return false;
}

// What of an output its dtype cannot hold: then it is not the tensor that the device says it is. "" for nothing.
std::string not_held(const HostTensor& output, std::size_t number) {
  if (output.integer()) return "";  // they came as what they are
  HostTensor held = output;
  quantize(held);
  const auto group = static_cast<std::size_t>(is_block_float(output.spec.dtype.value) ? kBlockFloatGroup : 1);
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, row_length(output.spec.shape)));
  std::size_t others = 0, first = 0;
  for (std::size_t row = 0; row < output.floats.size(); row += width) {
    for (std::size_t at = row; at < row + width; at += group) {
      const std::size_t end = std::min(at + group, row + width);
      // A group with NaN or infinity says nothing of the rest of it.
      if (!std::all_of(output.floats.begin() + static_cast<std::ptrdiff_t>(at),
                       output.floats.begin() + static_cast<std::ptrdiff_t>(end),
                       [](float v) { return std::isfinite(v); }))
        continue;
      for (std::size_t i = at; i < end; ++i)
        if (output.floats[i] != held.floats[i] && others++ == 0) first = i;
    }
  }
  if (others == 0) return "";
  return fmt::format("output {}: {} of {} values are none that {} can hold, the first at {}: {}", number, others,
                     output.floats.size(), output.spec.dtype.name(), first, output.floats[first]);
}

// What of the specs that came is not said: who leaves it out has not shown that it is as promised.
std::string not_said(const std::vector<OutputSpec>& reported) {
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const TensorSpec& spec = reported[i].spec;
    const bool on_device = spec.storage.value == StorageType::kDevice;
    const std::string_view missing = !spec.has_shape                                     ? "shape"
                                     : !spec.dtype.present()                             ? "dtype"
                                     : !spec.layout.present()                            ? "layout"
                                     : !spec.storage.present()                           ? "storage"
                                     : on_device && !spec.memory                         ? "memory"
                                     : reported[i].padded.empty() && !spec.shape.empty() ? "padded_shape"
                                                                                         : "";
    if (!missing.empty())
      return fmt::format("the device does not say what it returned: output {} has no {}", i, missing);
  }
  return "";
}

// Specs that are not as promised: where nothing was reported, nobody knows what came.
std::string not_as_promised(const PlannedCall& plan, const DeviceResult& ran) {
  if (ran.reported.empty() && !plan.outputs.empty()) return "the device does not say what it returned: no output specs";
  return fmt::format("{}", fmt::join(output_differences(plan.outputs, ran.reported, "promised", "came"), "; "));
}

void judge_answer(const PlannedCall& plan, Prepared& prepared, const DeviceResult& ran, const RunOptions& options,
                  CaseResult& result) {
  if (other_values(plan.outputs, ran.reported)) {
    result.outcome = Outcome::kFailed;
    result.reason =
        fmt::format("{}", fmt::join(output_differences(plan.outputs, ran.reported, "promised", "came"), "; "));
    return;
  }
  if (options.on_stage) options.on_stage(Stage::kReference);
  const auto judging = std::chrono::steady_clock::now();
  std::vector<Rows> rows = prepared.rows;
  add_alike_rows(ran.outputs, rows);
  judge_outputs(plan, prepared.planned, ran.outputs, rows, options, result);
  result.reference_seconds = since(judging);
  if (is_failure(result.outcome)) return;
  // Right numbers in a tensor of another kind are a wrong result.
  std::string wrong = not_as_promised(plan, ran);
  for (std::size_t o = 0; o < ran.outputs.size() && wrong.empty(); ++o) wrong = not_held(ran.outputs[o], o);
  if (wrong.empty()) return;
  result.outcome = Outcome::kFailed;
  result.reason = std::move(wrong);
}

void note_prediction(const Checked<PlannedCall>& plan, bool accepted, CaseResult& result) {
  if (plan && !accepted && result.outcome != Outcome::kUnsupported && result.outcome != Outcome::kLost)
    result.notes.emplace_back("the rules here would accept it");
  if (!plan && accepted)
    result.notes.push_back(fmt::format("predicted {}: {}", name_of(outcome_of(plan.error())), plan.error().message));
}

}  // namespace

CaseResult run_external(const OpConfig& config, Device& device, const RunOptions& options,
                        const std::vector<HostTensor>* given) {
  CaseResult result;
  const auto plan = plan_call(config, device.can().board);
  auto sent = call_to_send(config);
  if (!sent) {
    refused(result, sent.error());
    return result;
  }
  result.assumed = sent->assumed;
  if (plan) result.outputs = plan->outputs;
  auto prepared = prepare(*std::move(sent), plan, device.can().numerics != Numerics::kNone, options, given);
  if (!prepared) {
    refused(result, prepared.error());
    return result;
  }
  std::vector<OutputSpec> asked;
  if (plan) asked = plan->outputs;
  if (options.on_stage) options.on_stage(Stage::kDevice);
  const auto start = std::chrono::steady_clock::now();
  const auto ran = device.run({.call = prepared->sent,
                               .outputs = asked,
                               .repeat = options.repeat,
                               .capture = options.capture && device.can().capture},
                              prepared->inputs);
  result.seconds = since(start);
  if (!ran) {
    refused(result, ran.error());
    if (const DeviceFailure* failure = device.failure()) {
      result.outcome = failure->outcome;
      if (failure->own_fault) result.blame = Blame::kDevice;
    }
    note_prediction(plan, false, result);
    return result;
  }
  result.computed = !prepared->inputs.empty();
  result.memory = ran->memory;
  if (ran->cold_seconds) result.seconds = ran->warm_seconds.value_or(*ran->cold_seconds);
  if (ran->warm_seconds) result.cold_seconds = ran->cold_seconds;
  result.kernel_seconds = ran->kernel_seconds;
  read_trace_of(*ran, prepared->sent.op, result);
  note_prediction(plan, true, result);
  const bool judged = plan && !prepared->inputs.empty();
  const bool says = !ran->reported.empty();
  if (says) result.outputs = ran->reported;
  result.outcome = Outcome::kAccepted;
  const std::string unsaid = not_said(ran->reported);
  // Specs of a device that computes, and that no trace contradicts, are held against our promise with its numbers.
  const bool specs_right = !unsaid.empty() || (judged && options.recorded.empty()) ||
                           accept_specs({plan ? &plan->outputs : nullptr, says ? &ran->reported : nullptr,
                                         options.recorded, device.can().board.name},
                                        result);
  if (!unsaid.empty()) {
    result.outcome = Outcome::kFailed;
    result.reason = unsaid;
  } else if (specs_right && judged) {  // values of another tensor say nothing
    judge_answer(*plan, *prepared, *ran, options, result);
  } else if (specs_right && !prepared->inputs.empty()) {
    result.reason = "no reference here: " + plan.error().message;
  }
  if (options.keep_outputs && (plan || given != nullptr)) {
    result.actual = ran->outputs;
    for (const Rows& rows : prepared->rows) result.judged_rows.push_back(rows.picked);
  }
  prove(config, result);
  return result;
}

Checked<TimedRun> time_external(const OpConfig& config, Device& device, const RunOptions& options,
                                const TimingOrder& order, const std::vector<HostTensor>* given) {
  const auto plan = plan_call(config, device.can().board);
  OPWRIGHT_CHECK_ASSIGN(BoundCall sent, call_to_send(config));
  OPWRIGHT_CHECK_ASSIGN(const Prepared prepared,
                        prepare(std::move(sent), plan, device.can().numerics != Numerics::kNone, options, given));
  std::vector<OutputSpec> asked;
  if (plan) asked = plan->outputs;
  if (options.on_stage) options.on_stage(Stage::kDevice);
  return device.time({.call = prepared.sent, .outputs = asked, .memory = false}, prepared.inputs, order);
}

CaseResult run_golden(const OpConfig& config, Device& device, const RunOptions& options) {
  CaseResult result;
  if (!device.can().golden) {
    result.outcome = Outcome::kUnsupported;
    result.reason = fmt::format("{} has none", device.can().name);
    return result;
  }
  const auto plan = plan_call(config, device.can().board);
  if (!plan) {
    refused(result, plan.error());
    return result;
  }
  auto sent = call_to_send(config);
  if (!sent) {
    refused(result, sent.error());
    return result;
  }
  auto prepared = prepare(*std::move(sent), plan, true, options);
  if (!prepared) {
    refused(result, prepared.error());
    return result;
  }
  const auto ran = device.run({.call = prepared->sent, .outputs = plan->outputs, .golden = true}, prepared->inputs);
  if (!ran) {
    refused(result, ran.error());
    if (const DeviceFailure* failure = device.failure()) {
      result.outcome = failure->outcome;
      result.reason = failure->message;
    }
    return result;
  }
  RunOptions plain = options;
  plain.mutate = false;
  judge_outputs(*plan, prepared->planned, ran->outputs, prepared->rows, plain, result);
  if (options.keep_outputs) {
    result.actual = ran->outputs;
    for (const Rows& rows : prepared->rows) result.judged_rows.push_back(rows.picked);
  }
  return result;
}

}  // namespace opwright

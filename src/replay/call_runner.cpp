#include "replay/call_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dialect/ttnn/carrying_calls.h"
#include "exec/output_fields.h"
#include "exec/run_external.h"
#include "exec/time_case.h"
#include "replay/carried_values.h"
#include "replay/distance.h"
#include "replay/lent_values.h"

namespace opwright::replay {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void set_refused(const Refusal& refusal, Step& step) {
  step.outcome = outcome_of(refusal);
  step.reason = refusal.message;
}

// Whether the outputs that our rules promise have the shapes and dtypes of those that were recorded.
bool same_tensors(const KnownCall& known) {
  return known.plan && known.results.size() == known.plan->outputs.size() &&
         std::ranges::equal(known.results, known.plan->outputs, [](const TensorSpec& a, const OutputSpec& b) {
           return a.shape == b.spec.shape && a.dtype.value == b.spec.dtype.value;
         });
}

std::vector<Content*> contents_of(const auto& inputs) {
  std::vector<Content*> out;
  for (const auto& input : inputs) out.push_back(input.content);
  return out;
}

Rows all_rows(const Shape& shape) {
  Rows rows;
  rows.length = std::max<std::int64_t>(1, row_length(shape));
  rows.total = volume(shape) / rows.length;
  return rows;
}

}  // namespace

CallRunner::CallRunner(format::NativeTrace& trace, Device& device, const Options& options, Report& report)
    : trace_(trace),
      device_(device),
      options_(options),
      report_(report),
      outside_(trace, options.run.recipe),
      flow_(trace.flow().edges) {}

// Which tensor each slot is. False: nobody knows, and the call is not run.
bool CallRunner::resolve(const format::NativeCall& call, const KnownCall& known, const std::vector<std::size_t>& slots,
                         Gathered& gathered, Step& step) {
  for (std::size_t i = 0; i < gathered.call->tensors.size(); ++i) {
    const std::size_t slot = i < slots.size() ? slots[i] : kNoPlace;
    Input& input = gathered.inputs.emplace_back();
    if (slot >= call.tensors.size()) continue;
    input.id = call.tensors[slot].id;
    if (accepted_.contains(input.id))
      ++(flow_ == DataFlow::kRecorded ? report_.edges.recorded : report_.edges.inferred);
    if (input.id != 0 || flow_ == DataFlow::kRecorded || slot >= known.arguments.size()) continue;
    const auto found = by_spec_.find(to_text(known.arguments[slot]));
    if (found == by_spec_.end()) continue;  // from outside
    ++report_.edges.ambiguous;
    if (!options_.assume_recent) {
      step.outcome = Outcome::kLost;
      step.reason = fmt::format(
          "the trace does not say whether {} is one of {} earlier results of its spec; --assume-recent takes the "
          "latest",
          gathered.call->tensors[i].param, found->second.results);
      return false;
    }
    input.id = found->second.latest;
    step.notes.push_back(fmt::format("{} is taken to be #{}, the latest of its spec", gathered.call->tensors[i].param,
                                     found->second.latest));
  }
  return true;
}

// The contents of all inputs, made where nobody has made them.
void CallRunner::fetch(const format::NativeCall& call, const KnownCall& known, const std::vector<std::size_t>& slots,
                       Gathered& gathered, Step& step) {
  for (std::size_t i = 0; i < gathered.inputs.size(); ++i) {
    Input& input = gathered.inputs[i];
    const TensorSlot& tensor = gathered.call->tensors[i];
    const std::size_t slot = i < slots.size() ? slots[i] : kNoPlace;
    input.content = input.id == 0 ? nullptr : table_.content(input.id);
    const bool fits = input.content != nullptr && input.content->dtype == tensor.spec.dtype.value &&
                      input.content->count == volume(tensor.spec.shape);
    if (input.content != nullptr && !fits) {
      ++report_.edges.broken;
      step.notes.push_back(fmt::format("#{} holds {} elements of {}, {} has {} of {}: values of its own", input.id,
                                       input.content->count, name_of(input.content->dtype), tensor.param,
                                       volume(tensor.spec.shape), tensor.spec.dtype.name()));
    }
    if (fits) {
      if (input.content->origin == Origin::kComputed)
        ++(flow_ == DataFlow::kRecorded ? report_.edges.recorded : report_.edges.inferred);
      step.inputs.push_back({tensor.param, input.id, input.content->origin});
      continue;
    }
    Content made = outside_.make({.op = known.plan ? known.plan->op : nullptr,
                                  .call = *gathered.call,
                                  .slot = i,
                                  .id = input.id,
                                  .version = slot < call.tensors.size() ? call.tensors[slot].version : 0,
                                  .seq = call.seq,
                                  .recorded = slot});
    ++(made.origin == Origin::kRecorded ? report_.inputs.recorded
       : made.origin == Origin::kSketch ? report_.inputs.sketch
                                        : report_.inputs.recipe);
    step.inputs.push_back({tensor.param, input.id, made.origin});
    const bool kept = input.id != 0 && input.content == nullptr;
    if (!kept) {
      input.own = std::make_unique<Content>(std::move(made));
      input.content = input.own.get();
      continue;
    }
    const format::TensorResult* made_outside = trace_.outside_tensor(input.id);
    // Of a call that nobody here has checked, the spec that is sound.
    const bool checked = known.plan.has_value() || slot >= known.arguments.size();
    table_.declare(input.id, checked ? tensor.spec : known.arguments[slot],
                   made_outside == nullptr ? 0 : made_outside->storage,
                   made_outside == nullptr ? 0 : made_outside->view_of);
    table_.write(input.id, std::move(made));
  }
  // Only now: a table that grows may move its contents.
  for (Input& input : gathered.inputs)
    if (!input.own) input.content = table_.content(input.id);
}

bool CallRunner::too_large(const KnownCall& known, const BoundCall& call, Step& step) const {
  double elements = 0, work = 0;
  for (const TensorSlot& tensor : call.tensors) elements += static_cast<double>(volume(tensor.spec.shape));
  if (known.plan) {
    for (const OutputSpec& output : known.plan->outputs) elements += static_cast<double>(volume(output.spec.shape));
    if (known.plan->op->work != nullptr && !known.plan->outputs.empty())
      work = known.plan->op->work(known.plan->call) *
             static_cast<double>(all_rows(known.plan->outputs.front().spec.shape).total);
  }
  if (elements > static_cast<double>(options_.most_elements))
    step.reason = fmt::format("{:.3g} elements in its tensors, at most {:.3g} are made (--max-elements)", elements,
                              static_cast<double>(options_.most_elements));
  else if (work > options_.most_work)
    step.reason = fmt::format("{:.3g} multiply-adds, at most {:.3g} are made (--max-work)", work, options_.most_work);
  else
    return false;
  step.part = Part::kSkipped;
  return true;
}

// Its times, where it is right. Iterations get the inputs of the call each time, so what they write harms nobody.
void CallRunner::time_call(const KnownCall& known, const CaseResult& result, const RunOptions& how,
                           const std::vector<HostTensor>* inputs) {
  if (!options_.perf || is_failure(result.outcome)) return;
  perf_ = time_case(known.config, device_, how, *options_.perf, inputs);
}

CaseResult CallRunner::execute(KnownCall& known, Gathered& gathered, std::vector<std::vector<double>>& exact) {
  RunOptions how = options_.run;
  how.keep_outputs = true;
  how.whole_outputs = true;
  how.ask_blindness = false;
  how.on_exact = [&](std::size_t output, const Exact& found) {
    exact.resize(std::max(exact.size(), output + 1));
    exact[output] = found.value;
  };
  const bool numbers = device_.can().numerics != Numerics::kNone;
  const std::vector<Content*> contents = contents_of(gathered.inputs);
  if (device_.can().recorded_calls) {
    how.capture = device_.can().capture;
    how.recorded = known.recorded;
    if (!numbers) {
      CaseResult result = run_external(known.config, device_, how);
      time_call(known, result, how, nullptr);
      return result;
    }
    Lent lent(*gathered.call, contents, Lent::Which::kDevice);
    CaseResult result = run_external(known.config, device_, how, &lent.tensors());
    time_call(known, result, how, &lent.tensors());
    return result;
  }
  if (!known.admitted) {
    how.compute = false;
    how.recorded = known.recorded;
    known.admitted = run_case(known.config, device_, how);
    known.admitted->outputs.clear();  // the plan has them: copied with each call for nothing
    how.compute = true;
    how.recorded.clear();
  }
  CaseResult result = *known.admitted;
  // Where our rules and the record differ in where a tensor lies, its numbers still go on.
  const bool differs = result.outcome == Outcome::kReferenceWrong && same_tensors(known);
  if ((result.outcome != Outcome::kAccepted && !differs) || !numbers) return result;
  result.outcome = Outcome::kNotRun;
  result.reason.clear();
  Lent lent(*gathered.call, contents, Lent::Which::kDevice);
  run_planned(*known.plan, device_, lent.tensors(), how, result);
  if (differs && result.outcome == Outcome::kPassed) {
    result.outcome = known.admitted->outcome;
    result.reason = known.admitted->reason;
  }
  time_call(known, result, how, nullptr);
  if (!result.computed || result.outcome != Outcome::kPassed) return result;
  if (!known.proof) {
    known.proof.emplace();
    known.proof->outcome = Outcome::kPassed;
    known.proof->executed = recapture(known.plan->call, lent.tensors());
    prove(known.config, *known.proof);
  }
  result.outcome = known.proof->outcome;
  result.reason = known.proof->reason;
  return result;
}

// What the references make of what the references made before. Empty: there is none.
std::vector<std::vector<double>> CallRunner::chain(const PlannedCall& plan, Gathered& gathered, Step& step) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<double>> out;
  const std::vector<Content*> contents = contents_of(gathered.inputs);
  Lent lent(*gathered.call, contents, Lent::Which::kExact);
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    if (has_own_form(plan.outputs[o])) {  // laid out for the library's own use: there are no numbers to go on with
      out.emplace_back();
      continue;
    }
    const Rows rows = all_rows(plan.outputs[o].spec.shape);
    auto exact = plan.op->reference({plan.call, lent.tensors(), plan.outputs, o, rows});
    if (!exact || exact->value.size() != static_cast<std::size_t>(volume(plan.outputs[o].spec.shape))) {
      out.clear();
      break;
    }
    out.push_back(std::move(exact->value));
  }
  step.reference_seconds += since(start);
  return out;
}

void CallRunner::remember_result(std::uint64_t id, const TensorSpec& spec) {
  if (flow_ == DataFlow::kRecorded) return;
  Candidates& candidates = by_spec_[to_text(spec)];
  if (keeps_latest() && candidates.latest != id) table_.retire(candidates.latest);
  candidates.latest = id;
  ++candidates.results;
}

void CallRunner::begin_test(std::string_view test) {
  if (flow_ == DataFlow::kRecorded || test == test_) return;
  test_ = test;
  if (keeps_latest())
    for (const auto& [spec, candidates] : by_spec_) table_.retire(candidates.latest);
  by_spec_.clear();
}

void CallRunner::take_outputs(const format::NativeCall& call, const KnownCall& known, CaseResult& result,
                              Gathered& gathered, std::vector<std::vector<double>>& exact, Step& step) {
  const std::vector<OutputSpec>& outputs = known.plan ? known.plan->outputs : result.outputs;
  const bool whole = std::ranges::all_of(result.judged_rows, [](const auto& rows) { return rows.empty(); });
  const bool diverged =
      std::ranges::any_of(gathered.inputs, [](const Input& input) { return input.content->diverged; });
  const bool has_reference = known.plan && known.plan->op->reference != nullptr;
  exact.resize(outputs.size());
  bool complete = true;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    complete = complete && (!exact[o].empty() || has_own_form(outputs[o]));
  if (!has_reference)
    exact.clear();
  else if (diverged || !whole || !complete)
    exact = chain(*known.plan, gathered, step);
  if (exact.size() != result.actual.size()) {
    exact.clear();
    ++report_.not_chained;
  }
  std::vector<std::int64_t> as_large;  // elements of the inputs: what is written in place has as many
  for (const Input& input : gathered.inputs) as_large.push_back(input.content->count);
  for (std::size_t o = 0; o < result.actual.size(); ++o) {
    HostTensor& actual = result.actual[o];
    Content content;
    content.dtype = actual.spec.dtype.value;
    content.count = actual.size();
    content.device = {std::move(actual.floats), std::move(actual.ints)};
    if (!exact.empty() && exact[o].size() == content.device.size()) {
      const auto judging = std::chrono::steady_clock::now();
      worsen(step.global, distance(content.device, exact[o]));
      step.reference_seconds += since(judging);
      keep_exact(exact[o], content);
    }
    const std::size_t place = known.plan ? known.result_of[o] : o;
    std::uint64_t into = 0;
    if (o < outputs.size() && !outputs[o].alias.empty())
      if (const auto slot = gathered.call->slot(outputs[o].alias); slot && as_large[*slot] == content.count)
        into = gathered.inputs[*slot].id;
    if (place < call.results.size()) {
      const format::TensorResult& made = call.results[place];
      const TensorSpec& spec = place < known.results.size() ? known.results[place] : actual.spec;
      if (const auto recorded = outside_.recorded_result(call.seq, place, spec)) {
        std::vector<double> wanted(recorded->device.floats.begin(), recorded->device.floats.end());
        for (const std::int64_t value : recorded->device.ints) wanted.push_back(static_cast<double>(value));
        worsen(step.recorded, distance(content.device, wanted));
      }
      table_.declare(made.id, spec, made.storage, into != 0 ? into : made.view_of);
      remember_result(made.id, spec);
      if (into == 0)
        into = made.id;
      else if (made.id != 0 && !table_.share(into, made.id))
        table_.write(made.id, content);
    }
    if (into != 0) table_.write(into, std::move(content));
  }
}

void CallRunner::run(const format::NativeCall& call, KnownCall& known, Step& step) {
  const bool program = device_.can().recorded_calls;
  if (!known.trouble.empty() || (!known.plan && !program)) {
    set_refused(known.refusal, step);
    leave_open(call, known);
    return;
  }
  Gathered gathered;
  if (!known.plan) gathered.sent = BoundCall(known.config.op, known.config.convention, known.config.args);
  gathered.call = known.plan ? &known.plan->call : &gathered.sent;
  const std::vector<std::size_t>& slots = known.plan ? known.planned_slots : known.sent_slots;
  const bool numbers = device_.can().numerics != Numerics::kNone;
  if (!resolve(call, known, slots, gathered, step)) {
    leave_open(call, known);
    return;
  }
  if (numbers) {
    for (const TensorSlot& tensor : gathered.call->tensors)
      if (!has_sound_shape(tensor.spec) || !computed(tensor.spec.dtype.value)) {
        set_refused({Refusal::Kind::kUnsupported, tensor.param,
                     fmt::format("{} has no shape or no dtype that is computed with", tensor.param)},
                    step);
        leave_open(call, known);
        return;
      }
    if (too_large(known, *gathered.call, step)) {
      leave_open(call, known);
      return;
    }
    fetch(call, known, slots, gathered, step);
  }
  std::vector<std::vector<double>> exact;
  perf_.reset();
  CaseResult result = execute(known, gathered, exact);
  step.perf = std::move(perf_);
  if (result.outcome != Outcome::kUnsupported && result.outcome != Outcome::kLost) ++report_.replayed;
  if (options_.on_ran && known.plan && (result.computed || result.outcome == Outcome::kAccepted))
    options_.on_ran(*known.plan);
  step.outcome = result.outcome;
  step.reason = result.reason;
  step.device_seconds = result.seconds;
  step.reference_seconds = result.reference_seconds;
  for (const Verdict& verdict : result.verdicts)
    if (verdict.metrics.compared > 0 || verdict.nonfinite.expected > 0)  // else it is of the spec alone
      worsen(step.local, {verdict.metrics.pcc, verdict.metrics.rel_rms, verdict.metrics.compared,
                          verdict.nonfinite.disagreed == 0});
  if (!result.computed || result.actual.empty()) {
    leave_open(call, known);
    if (result.outcome == Outcome::kAccepted)
      for (const format::TensorResult& made : call.results) accepted_.insert(made.id);
    return;
  }
  take_outputs(call, known, result, gathered, exact, step);
}

void CallRunner::carry(const format::NativeCall& call, const KnownCall& known, Step& step) {
  const format::TensorResult& made = call.results.front();
  const TensorSpec& spec = known.results.front();
  if (made.id == call.tensors.front().id) return;  // it gave back what it got
  table_.declare(made.id, spec, made.storage, made.view_of);
  remember_result(made.id, spec);
  const Content* from = table_.content(call.tensors.front().id);
  if (from == nullptr || table_.content(made.id) == from) return;  // made when somebody asks; or shared already
  std::optional<Content> content;
  if (step.part == Part::kCollective) {
    content = over_chips(*from, known.arguments.front(), spec, collective_of(known.op));
    step.notes.emplace_back("every chip is taken to hold what this one holds");
  } else {
    content = carried(*from, spec);
  }
  if (content) {
    table_.write(made.id, *std::move(content));
    return;
  }
  ++report_.edges.broken;
  step.notes.emplace_back("the result has another number of elements: values of its own");
}

void CallRunner::leave_open(const format::NativeCall& call, const KnownCall& known) {
  for (const format::TensorWrite& write : call.writes)
    if (write.slot < call.tensors.size() && table_.content(call.tensors[write.slot].id) != nullptr)
      ++report_.stale_writes;
  for (std::size_t i = 0; i < call.results.size() && i < known.results.size(); ++i) {
    const format::TensorResult& made = call.results[i];
    table_.declare(made.id, known.results[i], made.storage, made.view_of);
    remember_result(made.id, known.results[i]);
  }
}

}  // namespace opwright::replay

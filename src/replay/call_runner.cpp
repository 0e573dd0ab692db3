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

// What run_case does before it makes data, for a call that is planned already.
CaseResult admit(const PlannedCall& plan, Device& device, const RunOptions& how) {
  CaseResult result;
  const auto admitted = device.admit({plan.call, plan.outputs});
  if (!admitted) {
    result.outcome = outcome_of(admitted.error());
    result.reason = admitted.error().message;
    return result;
  }
  result.memory = *admitted;
  if (accept_specs({&plan.outputs, nullptr, how.recorded, device.can().board.name}, result))
    result.outcome = Outcome::kAccepted;
  return result;
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
      outside_(trace, options.run.recipe, held_),
      recorded_(trace, outside_),
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
    keep_outside(input.id, known, tensor.spec, slot, std::move(made));
  }
  // Only now: a table that grows may move its contents.
  for (Input& input : gathered.inputs)
    if (!input.own) input.content = table_.content(input.id);
}

void CallRunner::keep_outside(std::uint64_t id, const KnownCall& known, const TensorSpec& spec, std::size_t slot,
                              Content made) {
  const format::TensorResult* outside = trace_.outside_tensor(id);
  // Of a call that nobody here has checked, the spec that is sound.
  const bool checked = known.plan.has_value() || slot >= known.arguments.size();
  table_.declare(id, checked ? spec : known.arguments[slot], outside == nullptr ? 0 : outside->storage,
                 outside == nullptr ? 0 : outside->view_of);
  table_.write(id, std::move(made));
}

void CallRunner::supply(const format::NativeCall& call, const KnownCall& known,
                        const std::unordered_set<std::uint64_t>& others) {
  if (!known.plan) return;
  const BoundCall& bound = known.plan->call;
  for (std::size_t i = 0; i < bound.tensors.size(); ++i) {
    const std::size_t slot = i < known.planned_slots.size() ? known.planned_slots[i] : kNoPlace;
    const std::uint64_t id = slot < call.tensors.size() ? call.tensors[slot].id : 0;
    if (id == 0 || others.contains(id) || table_.content(id) != nullptr) continue;
    Content made = outside_.make({.op = known.plan->op,
                                  .call = bound,
                                  .slot = i,
                                  .id = id,
                                  .version = call.tensors[slot].version,
                                  .seq = call.seq,
                                  .recorded = slot});
    keep_outside(id, known, bound.tensors[i].spec, slot, std::move(made));
  }
}

bool CallRunner::too_large(const KnownCall& known, const BoundCall& call, Step& step) const {
  double elements = 0, work = 0;
  for (const TensorSlot& tensor : call.tensors) elements += static_cast<double>(volume(tensor.spec.shape));
  if (known.exchange)
    elements +=
        static_cast<double>(known.exchange->chips - 1) * static_cast<double>(volume(call.tensors[0].spec.shape));
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

std::vector<HostTensor> CallRunner::lent(const KnownCall& known, const Gathered& gathered, Whose whose) const {
  std::vector<const Content*> contents;
  for (const Input& input : gathered.inputs) contents.push_back(input.content);
  std::vector<HostTensor> tensors = lend(*gathered.call, contents, whose);
  if (known.exchange) add_parts(*known.exchange, tensors.front());
  return tensors;
}

// Its times, where it is right. Iterations get the inputs of the call each time, so what they write harms nobody.
void CallRunner::time_call(const KnownCall& known, const CaseResult& result, const RunOptions& how,
                           const std::vector<HostTensor>* inputs) {
  if (!options_.perf || is_failure(result.outcome)) return;
  perf_ = time_case(known.config, device_, how, *options_.perf, inputs);
}

// `exact`: where the judge's exact results go; null: nobody asks for them.
CaseResult CallRunner::execute(KnownCall& known, Gathered& gathered, std::vector<Values>* exact) {
  RunOptions how = options_.run;
  how.keep_outputs = true;
  how.whole_outputs = true;
  how.ask_blindness = false;
  if (exact != nullptr)
    how.on_exact = [&](std::size_t output, const Exact& found) {
      exact->resize(std::max(exact->size(), output + 1));
      (*exact)[output] = kept_exact(found.value, is_integer(known.plan->outputs[output].spec.dtype.value));
    };
  const bool numbers = device_.can().numerics != Numerics::kNone;
  if (device_.can().recorded_calls) {
    how.capture = device_.can().capture;
    how.recorded = known.recorded;
    if (!numbers) {
      CaseResult result = run_external(known.config, device_, how);
      time_call(known, result, how, nullptr);
      return result;
    }
    const std::vector<HostTensor> tensors = lent(known, gathered, Whose::kDevice);
    CaseResult result = run_external(known.config, device_, how, &tensors);
    time_call(known, result, how, &tensors);
    return result;
  }
  if (!known.admitted) {
    how.compute = false;
    how.recorded = known.recorded;
    known.admitted = known.exchange ? admit(*known.plan, device_, how) : run_case(known.config, device_, how);
    known.admitted->outputs.clear();  // the plan has them: copied with each call for nothing
    how.compute = true;
    how.recorded.clear();
  }
  return compute(known, gathered, how);
}

CaseResult CallRunner::compute(KnownCall& known, Gathered& gathered, const RunOptions& how) {
  CaseResult result = *known.admitted;
  // Where our rules and the record differ in where a tensor lies, its numbers still go on.
  const bool differs = result.outcome == Outcome::kReferenceWrong && same_tensors(known);
  if ((result.outcome != Outcome::kAccepted && !differs) || device_.can().numerics == Numerics::kNone) return result;
  result.outcome = Outcome::kNotRun;
  result.reason.clear();
  std::vector<HostTensor>& tensors = gathered.expanded;
  tensors = lent(known, gathered, Whose::kDevice);
  if (!options_.judge) {
    auto ran = device_.run({.call = known.plan->call, .outputs = known.plan->outputs, .memory = false}, tensors);
    result.computed = ran.has_value();
    result.outcome = ran ? Outcome::kAccepted : outcome_of(ran.error());
    if (ran)
      result.actual = std::move(ran->outputs);
    else
      result.reason = ran.error().message;
    return result;
  }
  run_planned(*known.plan, device_, tensors, how, result);
  if (differs && result.outcome == Outcome::kPassed) {
    result.outcome = known.admitted->outcome;
    result.reason = known.admitted->reason;
  }
  time_call(known, result, how, nullptr);
  if (!result.computed || result.outcome != Outcome::kPassed) return result;
  if (!known.proof) {
    known.proof.emplace();
    known.proof->outcome = Outcome::kPassed;
    known.proof->executed = recapture(known.plan->call, tensors);
    prove(known.config, *known.proof);
  }
  result.outcome = known.proof->outcome;
  result.reason = known.proof->reason;
  return result;
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

// What the device was given, turned into what the chain has: expanded once for both.
std::vector<HostTensor> CallRunner::chain_inputs(const KnownCall& known, Gathered& gathered) const {
  if (known.exchange || gathered.expanded.size() != gathered.inputs.size()) return lent(known, gathered, Whose::kChain);
  std::vector<HostTensor> tensors = std::move(gathered.expanded);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Content& content = *gathered.inputs[i].content;
    if (!content.chain) continue;
    Values values{std::move(tensors[i].floats), std::move(tensors[i].ints)};
    content.chain->put_onto(values);
    tensors[i].floats = std::move(values.floats);
    tensors[i].ints = std::move(values.ints);
  }
  return tensors;
}

// What the references make of what the references made before goes to what the device made.
void CallRunner::follow(const KnownCall& known, Gathered& gathered, const CaseResult& result,
                        const std::vector<Values>& actual, std::vector<Values>& exact, std::vector<Content>& made,
                        Step& step) {
  if (!options_.chain) {
    gathered.expanded = {};
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto is_due = [&](std::size_t o) { return !has_own_form(known.plan->outputs[o]) && actual[o].size() > 0; };
  bool followed = known.plan && known.plan->op->reference != nullptr && known.plan->outputs.size() == actual.size();
  const bool whole = std::ranges::all_of(result.judged_rows, [](const auto& rows) { return rows.empty(); });
  exact.resize(actual.size());
  bool known_exact = whole && followed && exact_holds(gathered);
  for (std::size_t o = 0; o < actual.size() && known_exact; ++o)
    known_exact = !is_due(o) || exact[o].size() == actual[o].size();
  double references = 0;
  std::vector<HostTensor> inputs;
  if (followed && !known_exact) {
    exact.clear();
    inputs = chain_inputs(known, gathered);
  }
  gathered.expanded = {};
  for (std::size_t o = 0; o < actual.size() && followed; ++o) {
    if (!is_due(o)) continue;  // laid out for the library's own use: there are no numbers to go on with
    std::optional<Followed> found;
    if (known_exact)
      found = replay::follow(actual[o], exact[o], held_);
    else
      found = replay::follow(*known.plan, inputs, o, actual[o], held_);
    followed = found.has_value();
    if (!found) break;
    worsen(step.global, found->distance);
    references += found->reference_seconds;
    made[o].chain = std::move(found->chain);
  }
  if (!followed) {
    for (Content& content : made) content.chain.reset();
    step.global.reset();
    ++report_.not_chained;
  }
  step.reference_seconds += since(start);
  step.chain_seconds = since(start) - references;
}

// Whether the judge's exact result is that of the chain: no input differs.
bool CallRunner::exact_holds(const Gathered& gathered) {
  return std::ranges::none_of(gathered.inputs, [](const Input& input) { return input.content->chain != nullptr; });
}

void CallRunner::compare(const format::NativeCall& call, std::size_t place, bool of_result, const TensorSpec& spec,
                         const Content& content, const Values& values, Step& step) {
  auto found = recorded_.compare(call.seq, place, of_result, spec, values);
  if (!found) return;
  found->made_up = !content.faithful;
  worsen(step.recorded, *found);
}

void CallRunner::take_outputs(const format::NativeCall& call, const KnownCall& known, CaseResult& result,
                              Gathered& gathered, std::vector<Values>& exact, Step& step) {
  const std::vector<OutputSpec>& outputs = known.plan ? known.plan->outputs : result.outputs;
  const bool faithful =
      std::ranges::all_of(gathered.inputs, [](const Input& input) { return input.content->faithful; });
  std::vector<Values> actual;
  std::vector<Content> made;
  for (HostTensor& tensor : result.actual) {
    actual.push_back({std::move(tensor.floats), std::move(tensor.ints)});
    made.push_back({.dtype = tensor.spec.dtype.value, .count = tensor.size()});
    made.back().faithful = faithful && !known.exchange;
  }
  follow(known, gathered, result, actual, exact, made, step);
  exact = {};
  std::vector<std::int64_t> as_large;  // elements of the inputs: what is written in place has as many
  for (const Input& input : gathered.inputs) as_large.push_back(input.content->count);
  for (std::size_t o = 0; o < made.size(); ++o) {
    Content& content = made[o];
    const TensorSpec& given = result.actual[o].spec;
    content.device = held_.keep(Packed(actual[o], content.dtype, row_length(given.shape)));
    const std::size_t place = known.plan ? known.result_of[o] : o;
    const auto tell = [&](std::uint64_t tensor) {
      if (options_.on_made) options_.on_made(call.seq, tensor, actual[o]);
    };
    std::uint64_t into = 0;
    if (o < outputs.size() && !outputs[o].alias.empty())
      if (const auto slot = gathered.call->slot(outputs[o].alias); slot && as_large[*slot] == content.count) {
        into = gathered.inputs[*slot].id;
        if (*slot < gathered.slots->size())
          compare(call, (*gathered.slots)[*slot], false, given, content, actual[o], step);
      }
    if (place < call.results.size()) {
      const format::TensorResult& result_of = call.results[place];
      const TensorSpec& spec = place < known.results.size() ? known.results[place] : given;
      compare(call, place, true, spec, content, actual[o], step);
      table_.declare(result_of.id, spec, result_of.storage, into != 0 ? into : result_of.view_of);
      remember_result(result_of.id, spec);
      if (into == 0)
        into = result_of.id;
      else if (result_of.id != 0 && !table_.share(into, result_of.id))
        table_.write(result_of.id, content);
    }
    if (into != 0) tell(into);
    actual[o] = {};
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
  gathered.slots = &slots;
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
  if (known.exchange) step.notes.push_back(said(*known.exchange));
  std::vector<Values> exact;
  const bool asked = options_.chain && numbers && known.plan && exact_holds(gathered);
  perf_.reset();
  CaseResult result = execute(known, gathered, asked ? &exact : nullptr);
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
  auto content = carried(*from, spec, held_);
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

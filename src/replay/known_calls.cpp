#include "replay/known_calls.h"

#include <algorithm>

#include "dialect/ttnn/collective_calls.h"
#include "dialect/ttnn/tensor_layout.h"
#include "exec/traced_board.h"
#include "format/native/native_arguments.h"
#include "normalize/normalize.h"
#include "normalize/provenance_names.h"
#include "ops/all_ops.h"

namespace opwright::replay {
namespace {

constexpr std::size_t kMostKept = 10'000;
// A field that no trace has: through all that is done with arguments it says which tensor this was.
constexpr std::string_view kSlotField = "@slot";

Value with_slots(const Value& value, std::int64_t& next) {
  if (const TensorSpec* spec = value.as_tensor()) {
    if (!spec->type.empty()) return value;  // of another library: not numbered
    TensorSpec marked = *spec;
    marked.more.emplace_back(std::string(kSlotField), Value(next++));
    return Value::tensor(std::move(marked));
  }
  if (const List* list = value.as_list()) {
    List out;
    for (const Value& item : *list) out.push_back(with_slots(item, next));
    return Value(std::move(out));
  }
  // Nobody binds what lies deeper, but it is counted.
  for_each_tensor(value, [&](const TensorSpec& spec) { next += spec.type.empty() ? 1 : 0; });
  return value;
}

// The layout that the caller wants taken for granted, where the trace says none.
Value with_layout(const Value& value, Layout layout, bool& assumed) {
  if (const TensorSpec* spec = value.as_tensor()) {
    if (!spec->type.empty() || spec->layout.present()) return value;
    TensorSpec known = *spec;
    known.layout.value = layout;
    assumed = true;
    return Value::tensor(std::move(known));
  }
  const List* list = value.as_list();
  if (list == nullptr) return value;
  List out;
  for (const Value& item : *list) out.push_back(with_layout(item, layout, assumed));
  return Value(std::move(out));
}

// What is counted and held of a tensor follows from its spec, and a trace may say anything. Of a shape that no device
// holds nothing is known, and of a tensor that cannot lie where it is said to, not what it takes.
void make_sound(TensorSpec& spec, const Board& board) {
  if (!has_sound_shape(spec)) {
    spec.shape.clear();
    spec.has_shape = false;
  }
  if (!spec.has_shape || !check_tensor(spec, board)) spec.memory.reset();
}

// Which numbers the tensors of each argument have.
struct Numbering {
  std::vector<std::int64_t> positional;                          // the first tensor of each
  std::vector<std::pair<std::string_view, std::int64_t>> named;  // the same
  std::size_t tensors = 0;

  std::optional<std::int64_t> first_of(const CallArgument& argument) const {
    if (argument.position >= 0 && static_cast<std::size_t>(argument.position) < positional.size())
      return positional[static_cast<std::size_t>(argument.position)];
    for (const auto& [name, first] : named)
      if (name == argument.name) return first;
    return std::nullopt;
  }
};

std::int64_t count_tensors(const format::NativeValue& value) {
  if (value.is(capture::Tag::kTensor)) return 1;
  std::int64_t count = 0;
  for (const format::NativeValue* item : value.items) count += count_tensors(*item);
  return count;
}

Numbering numbering_of(const format::NativeValue& call) {
  Numbering out;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < call.items.size(); ++i) {
    if (i < call.positional)
      out.positional.push_back(next);
    else
      out.named.emplace_back(call.names[i - call.positional], next);
    next += count_tensors(*call.items[i]);
  }
  out.tensors = static_cast<std::size_t>(next);
  return out;
}

std::size_t slot_of(const TensorSpec& spec) {
  for (const auto& [name, value] : spec.more)
    if (name == kSlotField && value.as_int() != nullptr) return static_cast<std::size_t>(*value.as_int());
  return kNoPlace;
}

std::vector<std::size_t> slots_of(const BoundCall& call) {
  std::vector<std::size_t> out;
  for (const TensorSlot& tensor : call.tensors) out.push_back(slot_of(tensor.spec));
  return out;
}

// Each output is the next result of its shape: an operator may return fewer tensors than it makes, and others too.
std::vector<std::size_t> match_results(const std::vector<OutputSpec>& outputs, const std::vector<TensorSpec>& results) {
  std::vector<std::size_t> out(outputs.size(), kNoPlace);
  if (outputs.size() == results.size()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
    return out;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t r = next; r < results.size(); ++r)
      if (results[r].shape == outputs[i].spec.shape) {
        out[i] = r;
        next = r + 1;
        break;
      }
  return out;
}

}  // namespace

bool has_sound_shape(const TensorSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t n : spec.shape) {
    if (n < 0 || (n > 0 && elements > kMost / n)) return false;
    elements *= n;
  }
  return spec.has_shape;
}

KnownCalls::KnownCalls(format::NativeTrace& trace, const Board& board, Layout assumed_layout, bool one_chip)
    : trace_(trace),
      board_(board),
      assumed_layout_(assumed_layout),
      one_chip_(one_chip),
      calls_(trace),
      machine_(normalize::name_machine(calls_.facts().machine)) {}

void KnownCalls::understand_exchange(KnownCall& out) const {
  auto planned = plan_exchange(out.config, out.results);
  if (!planned) {
    out.refusal = planned.error();
    return;
  }
  out.plan = std::move(planned->plan);
  out.exchange = planned->exchange;
  out.planned_slots = out.sent_slots;
  out.planned_slots.resize(out.plan->call.tensors.size(), kNoPlace);
  out.result_of = match_results(out.plan->outputs, out.results);
}

KnownCall& KnownCalls::of(const format::NativeCall& call) {
  const Hash128 same = format::same_call(call);
  if (known_.size() >= kMostKept && !known_.contains(same)) known_.clear();
  auto& entry = known_[same];
  if (!entry) {
    entry = understand(call);
    trace_.values().forget();
  }
  return *entry;
}

std::unique_ptr<KnownCall> KnownCalls::understand(const format::NativeCall& recorded) {
  auto out = std::make_unique<KnownCall>();
  auto lifted = calls_.call(recorded, notes_);
  if (!lifted) {
    if (const format::NativeValue* value = trace_.values().call(recorded.call)) out->op = value->text;
    out->trouble = lifted.error().message;
    out->refusal = {Refusal::Kind::kLost, "", out->trouble};
    return out;
  }
  if (assumed_layout_ != Layout::kAbsent)
    for (CallArgument& argument : lifted->arguments)
      argument.value = with_layout(argument.value, assumed_layout_, out->assumed_layout);
  // The recorded tensors are numbered in the order of the call; arguments may have got another one since.
  const Numbering numbers = numbering_of(*trace_.values().call(recorded.call));
  const bool counted = numbers.tensors == recorded.tensors.size();
  out->arguments.resize(recorded.tensors.size());
  Call marked = *lifted;
  for (CallArgument& argument : marked.arguments) {
    const auto first = numbers.first_of(argument);
    if (!counted || !first) continue;
    std::int64_t next = *first;
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (spec.type.empty() && static_cast<std::size_t>(next) < out->arguments.size())
        out->arguments[static_cast<std::size_t>(next++)] = spec;
    });
    next = *first;
    argument.value = with_slots(argument.value, next);
  }
  if (lifted->has_result) {
    for_each_tensor(lifted->result, [&](const TensorSpec& spec) {
      if (!spec.type.empty()) return;
      TensorSpec& kept = out->results.emplace_back(spec);
      if (!kept.layout.present()) kept.layout.value = assumed_layout_;
    });
    if (out->results.size() != recorded.results.size()) out->results.clear();
    std::vector<OutputSpec> returned;
    if (!recorded.raised() && tensors_of(lifted->result, returned) && !returned.empty()) {
      const auto board = traced_board(machine_);
      out->recorded.push_back({std::move(returned), 1, board ? board->name : ""});
    }
  }
  for (TensorSpec& spec : out->arguments) make_sound(spec, board_);
  for (TensorSpec& spec : out->results) make_sound(spec, board_);
  out->config = normalize::config_of(*std::move(lifted));
  out->op = out->config.op;
  const OpConfig marked_config = normalize::config_of(std::move(marked));
  out->sent_slots = slots_of(BoundCall(marked_config.op, marked_config.convention, marked_config.args));
  const OpSpec* op = find_op(out->config.op);
  out->described = op != nullptr;
  const bool exchanges = one_chip_ && collective_of(out->op) != Collective::kNone;
  auto plan = plan_call(out->config, board_);
  if (exchanges && (plan || !out->described || plan.error().kind != Refusal::Kind::kLost)) {
    understand_exchange(*out);
    return out;
  }
  if (!plan) {
    out->refusal = plan.error();
    return out;
  }
  out->plan = *std::move(plan);
  if (const auto bound = bind(*op, marked_config)) out->planned_slots = slots_of(*bound);
  out->planned_slots.resize(out->plan->call.tensors.size(), kNoPlace);
  out->result_of = match_results(out->plan->outputs, out->results);
  return out;
}

}  // namespace opwright::replay

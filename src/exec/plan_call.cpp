#include "exec/plan_call.h"

#include <fmt/format.h>

#include "base/near_names.h"
#include "dialect/dialect.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

// Beyond this a shape is nonsense or an attack: no board holds it, and products of its dimensions could overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

Checked<void> check_shape(const TensorSlot& slot) {
  const TensorSpec& spec = slot.spec;
  if (!spec.has_shape) return lost(slot.param, fmt::format("the trace does not say the shape of {}", slot.param));
  std::int64_t elements = 1;
  for (const std::int64_t n : spec.shape) {
    if (n < 0)
      return refuse(fmt::format("a dimension of {} is negative: {}", slot.param, shape_text(spec.shape)), slot.param);
    if (n > 0 && elements > kMostElements / n)
      return refuse_memory(fmt::format("{} of {} elements is larger than any device", slot.param, to_text(spec.shape)));
    elements *= n;
  }
  return {};
}

// A tensor argument must say what it is: nothing is ever defaulted.
Checked<void> check_input(const TensorSlot& slot, const Board& board) {
  OPWRIGHT_CHECK(check_shape(slot));
  const TensorSpec& spec = slot.spec;
  if (!spec.type.empty()) return unsupported(slot.param, fmt::format("{} is a {}", slot.param, spec.type));
  if (!spec.dtype.present()) return lost(slot.param, fmt::format("the trace does not say the dtype of {}", slot.param));
  if (!computed(spec.dtype.value))
    return unsupported(slot.param, fmt::format("{} has dtype {}", slot.param, spec.dtype.name()));
  if (!spec.layout.present())
    return lost(slot.param, fmt::format("the trace does not say the layout of {}", slot.param));
  return check_tensor(spec, board);
}

}  // namespace

Checked<PlannedCall> plan_call(const OpConfig& config, const Board& board) {
  if (std::string why = why_not_run(config.op); !why.empty()) return unsupported("", std::move(why));
  PlannedCall plan;
  plan.op = find_op(config.op);
  if (plan.op == nullptr) {
    std::vector<std::string_view> names;
    for (const OpSpec* op : all_ops()) names.push_back(op->name);
    return unsupported(
        "", fmt::format("nothing is known of operator {}{}", config.op, did_you_mean(near_names(config.op, names))));
  }
  OPWRIGHT_CHECK_ASSIGN(plan.call, bind(*plan.op, config));
  for (const TensorSlot& slot : plan.call.tensors) OPWRIGHT_CHECK(check_input(slot, board));
  for (const Argument& argument : plan.call.args)
    if (const MemoryConfig* memory = argument.value.as_memory()) OPWRIGHT_CHECK(check_memory(*memory));
  OPWRIGHT_CHECK_ASSIGN(plan.outputs, plan.op->infer(plan.call, board));
  return plan;
}

Outcome outcome_of(const Refusal& refusal) {
  switch (refusal.kind) {
    case Refusal::Kind::kRule:
      return Outcome::kRefused;
    case Refusal::Kind::kMemory:
      return Outcome::kOutOfMemory;
    case Refusal::Kind::kUnsupported:
      return Outcome::kUnsupported;
    case Refusal::Kind::kLost:
      return Outcome::kLost;
  }
  return Outcome::kNotRun;
}

}  // namespace opwright

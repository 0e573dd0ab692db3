#include "shrink/rules.h"

#include "exec/plan_call.h"

namespace opwright::shrink {

bool Rules::allow(const OpConfig& config) const {
  if (!asked_) return true;
  const auto planned = plan_call(config, board_);
  return planned || (planned.error().kind == Refusal::Kind::kUnsupported && planned.error().argument.empty());
}

std::optional<TensorSpec> Rules::output_of(const OpConfig& config) const {
  if (!asked_) return std::nullopt;
  const auto planned = plan_call(config, board_);
  if (!planned || planned->outputs.empty()) return std::nullopt;
  return planned->outputs.front().spec;
}

}  // namespace opwright::shrink

#include "replay/exchange.h"

#include <fmt/format.h>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright::replay {
Checked<PlannedExchange> plan_exchange(const OpConfig& config, const std::vector<TensorSpec>& results) {
  PlannedExchange out;
  out.plan.op = find_collective(config.op);
  out.plan.call = BoundCall(config.op, config.convention, config.args);
  for (const TensorSpec& spec : results)
    out.plan.outputs.push_back({.spec = spec, .padded = padded_shape(spec), .alias = ""});
  OPWRIGHT_CHECK_ASSIGN(out.exchange, exchange_of(out.plan.call, out.plan.outputs));
  return out;
}

std::string said(const Exchange& exchange) {
  if (exchange.chips == 1) return "one chip takes part";
  if (exchange.replicated) return fmt::format("{} chips, all with the values of this one", exchange.chips);
  return fmt::format("{} chips: this one's part is the replay's, the rows of it, moved on by k, stand in for chip k",
                     exchange.chips);
}

}  // namespace opwright::replay

#include "replay/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright::replay {
namespace {

// A lone row is moved on by whole groups of a block float, so that values stay what the dtype can hold.
constexpr std::int64_t kGroup = 16;

// Behind the part that is there, copies of it, each turned on by `step` elements more.
template <class T>
void add_turned(std::vector<T>& values, std::int64_t chips, std::size_t step) {
  const std::size_t count = values.size();
  values.reserve(count * static_cast<std::size_t>(chips));
  for (std::int64_t chip = 1; chip < chips; ++chip) {
    const std::size_t from = count == 0 ? 0 : step * static_cast<std::size_t>(chip) % count;
    for (std::size_t i = from; i < count; ++i) values.push_back(values[i]);
    for (std::size_t i = 0; i < from; ++i) values.push_back(values[i]);
  }
}

}  // namespace

Checked<PlannedExchange> plan_exchange(const OpConfig& config, const std::vector<TensorSpec>& results) {
  PlannedExchange out;
  out.plan.op = find_collective(config.op);
  out.plan.call = BoundCall(config.op, config.convention, config.args);
  for (const TensorSpec& spec : results)
    out.plan.outputs.push_back({.spec = spec, .padded = padded_shape(spec), .alias = ""});
  OPWRIGHT_CHECK_ASSIGN(out.exchange, exchange_of(out.plan.call, out.plan.outputs));
  return out;
}

void add_parts(const Exchange& exchange, HostTensor& part) {
  std::size_t step = 0;
  if (!exchange.replicated) {
    const std::int64_t length = row_length(part.spec.shape);
    step = static_cast<std::size_t>(part.size() > length ? length : length > kGroup ? kGroup : 1);
  }
  add_turned(part.floats, exchange.chips, step);
  add_turned(part.ints, exchange.chips, step);
}

std::string said(const Exchange& exchange) {
  if (exchange.chips == 1) return "one chip takes part";
  if (exchange.replicated) return fmt::format("{} chips, all with the values of this one", exchange.chips);
  return fmt::format("{} chips: this one's part is the replay's, the rows of it, moved on by k, stand in for chip k",
                     exchange.chips);
}

}  // namespace opwright::replay

#include "replay/chain.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

namespace opwright::replay {
namespace {

// Rows that references compute at a time: what they give takes 16 bytes an element.
constexpr std::int64_t kElementsAtOnce = std::int64_t{1} << 20;
constexpr std::int64_t kRowStep = 16;  // parts of a chain begin at multiples of 16 values

Followed done(const DistanceSums& sums, ChainValues chain, HeldBytes& held, double seconds = 0) {
  return {sums.result(), chain.differs() ? held.keep(std::move(chain)) : nullptr, seconds};
}

}  // namespace

Values kept_exact(std::span<const double> exact, bool integer) {
  Values out;
  if (!integer) {
    out.floats.assign(exact.begin(), exact.end());
    return out;
  }
  out.ints.reserve(exact.size());
  for (const double value : exact) out.ints.push_back(std::llround(value));
  return out;
}

Followed follow(const Values& actual, const Values& exact, HeldBytes& held) {
  DistanceSums sums;
  ChainValues chain(actual.size());
  sums.add(actual, 0, exact);
  chain.add(actual, 0, exact);
  return done(sums, std::move(chain), held);
}

std::optional<Followed> follow(const PlannedCall& plan, std::span<const HostTensor> inputs, std::size_t o,
                               const Values& actual, HeldBytes& held) {
  const TensorSpec& spec = plan.outputs[o].spec;
  Rows rows;
  rows.length = std::max<std::int64_t>(1, row_length(spec.shape));
  rows.total = volume(spec.shape) / rows.length;
  const std::int64_t step = std::max<std::int64_t>(1, kElementsAtOnce / rows.length / kRowStep) * kRowStep;
  DistanceSums sums;
  ChainValues chain(actual.size());
  double seconds = 0;
  for (std::int64_t first = 0; first < rows.total; first += step) {
    const std::int64_t count = std::min(step, rows.total - first);
    if (count < rows.total) {
      rows.picked.resize(static_cast<std::size_t>(count));
      std::iota(rows.picked.begin(), rows.picked.end(), first);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto exact = plan.op->reference({plan.call, inputs, plan.outputs, o, rows});
    if (!exact || exact->value.size() != static_cast<std::size_t>(count * rows.length)) return std::nullopt;
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Values part = kept_exact(exact->value, !actual.ints.empty());
    const auto at = static_cast<std::size_t>(first * rows.length);
    sums.add(actual, at, part);
    chain.add(actual, at, part);
  }
  return done(sums, std::move(chain), held, seconds);
}

}  // namespace opwright::replay

// The bound behind a fused function (bound.h). Four values of the function an element, of a chunk at once; two more of
// the few elements that need them.
//
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/vectorised.h"
#include "compare/bound.h"

namespace opwright {
namespace {

// Beyond this nothing is told apart anyway; squares and their sums stay finite.
constexpr double kFarthest = 1e60;

// So many elements at once that their places stay in the first cache beside the chunk.
constexpr std::size_t kAtOnce = 128;

struct Block {
  std::size_t from = 0, n = 0;  // of a chunk
  // Where the function is asked, and then what it gives there.
  alignas(64) std::array<double, kAtOnce> low, high;     // the ends of the reach
  alignas(64) std::array<double, kAtOnce> below, above;  // a standard deviation away
  alignas(64) std::array<double, kAtOnce> reach, inverse_deviation;
  alignas(64) std::array<double, kAtOnce> share;  // a standard deviation, as a part of the reach
  alignas(64) std::array<double, kAtOnce> own;    // the slack of the function, and then all that it may be off itself
};

// What the function itself may be off, on top of its slack.
struct OwnError {
  double ulps, floor_unit, relative, tiny;
};

// 1 / root of a number >= 0, to 5e-6 of it, and for 0 a finite number: two steps of Newton's method from a guess at its
// exponent. Roots and quotients that are good to the last bit were the dearest thing here, and a bound is not worth
// that.
[[gnu::always_inline]] inline double inverse_root_of(double x) {
  double inverse = std::bit_cast<double>(0x5FE6EB50C7B537A9 - (std::bit_cast<std::int64_t>(x) >> 1));
  const double half = 0.5 * x;
  inverse *= 1.5 - half * inverse * inverse;
  inverse *= 1.5 - half * inverse * inverse;
  return inverse;
}

[[gnu::always_inline]] inline void find_places_loop(const Chunk* chunk, Block* block) {
  const double* __restrict before = chunk->before + block->from;
  const double* __restrict bound_squared = chunk->bound_squared + block->from;
  const double* __restrict variance = chunk->variance + block->from;
  for (std::size_t i = 0; i < block->n; ++i) {
    const double y = before[i];
    const double inverse_reach = inverse_root_of(bound_squared[i]);
    const double reach = bound_squared[i] * inverse_reach;
    const double inverse = inverse_root_of(variance[i]);
    const double deviation = variance[i] * inverse;
    block->reach[i] = reach;
    block->inverse_deviation[i] = inverse;
    const double share = deviation * inverse_reach;
    block->share[i] = share < 1.0 ? share : 1.0;
    block->low[i] = y - reach;
    block->high[i] = y + reach;
    block->below[i] = y - deviation;
    block->above[i] = y + deviation;
  }
}
OPWRIGHT_VECTORISED(void, find_places, (const Chunk* chunk, Block* block), (chunk, block))

// How far from the exact result a value is; what is no number leads nowhere.
[[gnu::always_inline]] inline double led_to(double value, double exact) {
  const double led = std::abs(value - exact);
  const double far = led > 0.0 ? led : 0.0;
  return far < kFarthest ? far : kFarthest;
}

[[gnu::always_inline]] inline double finite(double value) {
  return std::abs(value) <= std::numeric_limits<double>::max() ? value : 0.0;
}

// Gives how many elements are not shown to be within a bound of that many times (error / bound)^2.
[[gnu::always_inline]] inline std::size_t carry_loop(Chunk* chunk, Block* block, OwnError error, double settled) {
  const double* __restrict exact = chunk->exact + block->from;
  const double* __restrict actual = chunk->actual + block->from;
  const double* __restrict unit = chunk->unit + block->from;
  double* __restrict bound_squared = chunk->bound_squared + block->from;
  double* __restrict variance = chunk->variance + block->from;
  double* __restrict slopes = chunk->slope + block->from;
  std::size_t settled_ones = 0;
  for (std::size_t i = 0; i < block->n; ++i) {
    const double e = exact[i];
    const double rounded_at = unit[i] < error.floor_unit ? error.floor_unit : unit[i];
    const double slack = block->own[i] > kFarthest ? kFarthest : block->own[i];
    const double own = error.ulps * rounded_at + error.relative * std::abs(e) + error.tiny + slack;
    block->own[i] = own;
    const double to_low = led_to(block->low[i], e);
    const double to_high = led_to(block->high[i], e);
    const double far = to_low > to_high ? to_low : to_high;
    const double bound = far + own;
    bound_squared[i] = bound * bound;
    const double below = finite(block->below[i] - e);
    const double above = finite(block->above[i] - e);
    const double nearby = (below * below + above * above) / 2;
    // A function that grows fast, or begins beyond a deviation, makes more of errors of several deviations.
    const double spread = far * block->share[i];
    const double carried = nearby > spread * spread ? nearby : spread * spread;
    variance[i] = (carried < kFarthest * kFarthest ? carried : kFarthest * kFarthest) + own * own * (1.0 / 3.0);
    const double inverse = block->inverse_deviation[i];
    const double slope = (above - below) * 0.5 * inverse;
    slopes[i] = inverse < kFarthest ? slope : 0.0;
    const double off = actual[i] - e;
    settled_ones += static_cast<std::size_t>(off * off <= settled * (bound * bound));
  }
  return block->n - settled_ones;
}
OPWRIGHT_VECTORISED(std::size_t, carry, (Chunk * chunk, Block* block, OwnError error, double settled),
                    (chunk, block, error, settled))

// A function that turns within the reach has its extremes between the ends, and one that turns many times may be the
// same at both. Only a wider bound can come of that: who is well within the one that is there needs no other.
void look_between(Chunk& chunk, Block& block, const EachOf& function, double settled) {
  constexpr int kPlaces = 16;  // of the reach, the ends and the middle among them
  std::array<std::uint32_t, kAtOnce> open;
  std::size_t count = 0;
  for (std::size_t i = 0; i < block.n; ++i) {
    const double error = chunk.actual[block.from + i] - chunk.exact[block.from + i];
    if (error * error > settled * chunk.bound_squared[block.from + i]) open[count++] = static_cast<std::uint32_t>(i);
  }
  std::array<double, kAtOnce> far;
  for (std::size_t at = 0; at < count; ++at) {
    const double exact = chunk.exact[block.from + open[at]];
    far[at] = std::max(led_to(block.low[open[at]], exact), led_to(block.high[open[at]], exact));
  }
  for (int place = 1 - kPlaces / 2; place < kPlaces / 2; ++place) {
    if (place == 0) continue;
    const double part = static_cast<double>(place) / (kPlaces / 2);
    std::array<double, kAtOnce>& there = block.below;  // the deviations are used up
    for (std::size_t at = 0; at < count; ++at)
      there[at] = chunk.before[block.from + open[at]] + part * block.reach[open[at]];
    function(std::span(there).first(count));
    for (std::size_t at = 0; at < count; ++at)
      far[at] = std::max(far[at], led_to(there[at], chunk.exact[block.from + open[at]]));
  }
  for (std::size_t at = 0; at < count; ++at) {
    const std::size_t i = open[at];
    const double bound = far[at] + block.own[i];
    const double spread = far[at] * block.share[i];
    chunk.bound_squared[block.from + i] = bound * bound;
    double& variance = chunk.variance[block.from + i];
    variance = std::max(variance, spread * spread + block.own[i] * block.own[i] * (1.0 / 3.0));
  }
}

}  // namespace

void BoundModel::fill_through(Chunk& chunk, const EachOf& function, const EachOf& slack, double worst_so_far) const {
  fill_before(chunk);
  fill_units(chunk);
  const double settled = std::min(worst_so_far, 1.0);
  const OwnError error{after_.ulps, after_floor_unit_, after_.relative, tiny_};
  Block block;
  for (block.from = 0; block.from < chunk.n; block.from += block.n) {
    block.n = std::min(kAtOnce, chunk.n - block.from);
    find_places(&chunk, &block);
    for (auto* values : {&block.low, &block.high, &block.below, &block.above})
      function(std::span(*values).first(block.n));
    if (slack) {
      std::copy_n(chunk.before + block.from, block.n, block.own.begin());
      slack(std::span(block.own).first(block.n));
    } else {
      std::fill_n(block.own.begin(), block.n, 0.0);
    }
    if (carry(&chunk, &block, error, settled) > 0) look_between(chunk, block, function, settled);
  }
}

}  // namespace opwright

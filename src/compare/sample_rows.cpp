#include "compare/sample_rows.h"

#include <algorithm>

namespace opwright {
namespace {

// SplitMix64: small, and the same on every machine.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % limit;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::int64_t> sample_rows(const SamplePlan& plan) {
  const std::int64_t length = std::max<std::int64_t>(plan.row_length, 1);
  const std::int64_t wanted = std::max<std::int64_t>(plan.elements / length, 16);
  if (plan.rows <= wanted) return {};
  const std::int64_t plane = plan.rows_per_plane > 0 ? std::min(plan.rows_per_plane, plan.rows) : plan.rows;
  const std::int64_t planes = plan.rows / plane;
  const std::int64_t tile = std::max<std::int64_t>(plan.tile_height, 1);
  Generator random(plan.seed);
  std::vector<std::int64_t> picked{0, plan.rows - 1};
  const auto pick = [&](std::int64_t first, std::int64_t row) {
    if (row >= 0 && row < plane && first + row < plan.rows) picked.push_back(first + row);
  };
  // A quarter of the sample goes to boundaries: in the first and last plane, then in random ones.
  for (std::int64_t turn = 0; static_cast<std::int64_t>(picked.size()) < wanted / 4; ++turn) {
    const std::int64_t which = turn == 0 ? 0
                               : turn == 1
                                   ? planes - 1
                                   : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(planes)));
    const std::int64_t first = which * plane;
    const std::int64_t boundary =
        turn < 2 ? tile : tile * static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(plane / tile + 1)));
    pick(first, 0);
    pick(first, boundary - 1);
    pick(first, boundary);
    pick(first, plane - 1);
  }
  const std::int64_t rest = wanted - static_cast<std::int64_t>(picked.size());
  for (std::int64_t i = 0; i < rest; ++i) {
    // Multiplication in parts: rows x rest may leave 64 bits only for outputs that no machine holds.
    const std::int64_t from = plan.rows / rest * i + plan.rows % rest * i / rest;
    const std::int64_t to = plan.rows / rest * (i + 1) + plan.rows % rest * (i + 1) / rest;
    if (to > from)
      picked.push_back(from + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(to - from))));
  }
  std::ranges::sort(picked);
  picked.erase(std::ranges::unique(picked).begin(), picked.end());
  return picked;
}

}  // namespace opwright

#include "perf/sequence_diff.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace opwright::perf {
namespace {

// A part of one side: its elements, and where each was in the whole.
struct Side {
  std::vector<std::uint32_t> values, places;
};

// What does not occur on the other side can match nothing. Without it, sequences that have nothing in common cost
// nothing.
Side only_common(const std::vector<std::uint32_t>& of, const std::vector<std::uint32_t>& other) {
  const std::unordered_set<std::uint32_t> known(other.begin(), other.end());
  Side side;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (!known.contains(of[i])) continue;
    side.values.push_back(of[i]);
    side.places.push_back(static_cast<std::uint32_t>(i));
  }
  return side;
}

class Myers {
 public:
  Myers(const Side& a, const Side& b, std::int64_t most) : a_(a), b_(b), most_(std::max<std::int64_t>(most, 2)) {
    const std::size_t diagonals = a.values.size() + b.values.size() + 3;
    forward_.resize(diagonals);
    backward_.resize(diagonals);
    middle_ = static_cast<std::int64_t>(b.values.size()) + 1;
  }

  Aligned run() {
    std::vector<Box> todo{
        {0, static_cast<std::int64_t>(a_.values.size()), 0, static_cast<std::int64_t>(b_.values.size())}};
    while (!todo.empty()) {
      Box box = todo.back();
      todo.pop_back();
      while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a0, box.b0)) take(box.a0++, box.b0++);
      while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a1 - 1, box.b1 - 1)) take(--box.a1, --box.b1);
      if (box.a0 == box.a1 || box.b0 == box.b1) continue;
      const auto [x, y] = split(box);
      todo.push_back({x, box.a1, y, box.b1});
      todo.push_back({box.a0, x, box.b0, y});
    }
    std::sort(out_.pairs.begin(), out_.pairs.end());
    return std::move(out_);
  }

 private:
  struct Box {
    std::int64_t a0, a1, b0, b1;
  };

  bool equal(std::int64_t x, std::int64_t y) const {
    return a_.values[static_cast<std::size_t>(x)] == b_.values[static_cast<std::size_t>(y)];
  }
  void take(std::int64_t x, std::int64_t y) {
    out_.pairs.emplace_back(a_.places[static_cast<std::size_t>(x)], b_.places[static_cast<std::size_t>(y)]);
  }
  std::int64_t& ahead(std::int64_t diagonal) { return forward_[static_cast<std::size_t>(diagonal + middle_)]; }
  std::int64_t& behind(std::int64_t diagonal) { return backward_[static_cast<std::size_t>(diagonal + middle_)]; }

  // A point on a shortest way through a box whose corners match nothing: searched from both corners at once. Never a
  // corner, so that both parts are smaller.
  std::pair<std::int64_t, std::int64_t> split(const Box& box) {
    const std::int64_t low = box.a0 - box.b1, high = box.a1 - box.b0;
    const std::int64_t from = box.a0 - box.b0, to = box.a1 - box.b1;
    const bool odd = ((from - to) & 1) != 0;
    std::int64_t from_low = from, from_high = from, to_low = to, to_high = to;
    ahead(from) = box.a0;
    behind(to) = box.a1;
    for (std::int64_t cost = 1;; ++cost) {
      grow(from_low, from_high, low, high, &Myers::ahead, -1);
      for (std::int64_t d = from_high; d >= from_low; d -= 2) {
        std::int64_t x = ahead(d - 1) >= ahead(d + 1) ? ahead(d - 1) + 1 : ahead(d + 1);
        std::int64_t y = x - d;
        while (x < box.a1 && y < box.b1 && equal(x, y)) ++x, ++y;
        ahead(d) = x;
        if (odd && to_low <= d && d <= to_high && behind(d) <= x) return {x, y};
      }
      grow(to_low, to_high, low, high, &Myers::behind, INT64_MAX);
      for (std::int64_t d = to_high; d >= to_low; d -= 2) {
        std::int64_t x = behind(d - 1) < behind(d + 1) ? behind(d - 1) : behind(d + 1) - 1;
        std::int64_t y = x - d;
        while (x > box.a0 && y > box.b0 && equal(x - 1, y - 1)) --x, --y;
        behind(d) = x;
        if (!odd && from_low <= d && d <= from_high && x <= ahead(d)) return {x, y};
      }
      if (cost >= most_) return furthest(box, from_low, from_high, to_low, to_high);
    }
  }

  // One diagonal more on either side, as far as the box goes; its neighbour beyond holds what loses every comparison.
  void grow(std::int64_t& least, std::int64_t& most, std::int64_t low, std::int64_t high,
            std::int64_t& (Myers::*at)(std::int64_t), std::int64_t worst) {
    if (least > low)
      (this->*at)(--least - 1) = worst;
    else
      ++least;
    if (most < high)
      (this->*at)(++most + 1) = worst;
    else
      --most;
  }

  // Given up: the way that came furthest, from either corner.
  std::pair<std::int64_t, std::int64_t> furthest(const Box& box, std::int64_t from_low, std::int64_t from_high,
                                                 std::int64_t to_low, std::int64_t to_high) {
    out_.shortest = false;
    std::int64_t best = -1, x = 0, y = 0;
    for (std::int64_t d = from_high; d >= from_low; d -= 2) {
      const std::int64_t at = std::min(ahead(d), box.a1), other = at - d;
      if (other > box.b1 || at + other - box.a0 - box.b0 <= best) continue;
      best = at + other - box.a0 - box.b0;
      x = at;
      y = other;
    }
    for (std::int64_t d = to_high; d >= to_low; d -= 2) {
      const std::int64_t at = std::max(behind(d), box.a0), other = at - d;
      if (other < box.b0 || box.a1 + box.b1 - at - other <= best) continue;
      best = box.a1 + box.b1 - at - other;
      x = at;
      y = other;
    }
    return {x, y};
  }

  const Side& a_;
  const Side& b_;
  std::int64_t most_, middle_ = 0;
  std::vector<std::int64_t> forward_, backward_;
  Aligned out_;
};

}  // namespace

Aligned align(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b, std::int64_t most_searched) {
  const Side left = only_common(a, b), right = only_common(b, a);
  return Myers(left, right, most_searched).run();
}

}  // namespace opwright::perf

// Two sequences of numbers aligned: which elements of one are which of the other, both in order. The longest common
// subsequence (Myers, linear space), so that nothing counts as changed that need not. Where that would take too long,
// because two long sequences have little in common, the alignment is still right but may not be the longest: `shortest`
// says so.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace opwright::perf {

struct Aligned {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // indices of equal elements, ascending on both sides
  bool shortest = true;                                        // false: there may be a longer one
};

// How many differences one step may look through before it takes what it has.
inline constexpr std::int64_t kMostSearched = 1024;

Aligned align(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
              std::int64_t most_searched = kMostSearched);

}  // namespace opwright::perf

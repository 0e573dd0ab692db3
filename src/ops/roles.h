// What tensors are filled with; an operator says it of each of its parameters (op.h). A token id is not a random
// number, a page table not a random list: data that no model could have gives results that prove nothing
// (docs/formats/data-recipes.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opwright {

enum class Role : std::uint8_t {
  // Numbers of the recipe's distribution, in the range where the operator is defined.
  kPlain,
  kPositive,   // sqrt, log: |x| + 0.1
  kAboveOne,   // acosh: |x| + 1
  kNonZero,    // divisors: at least 0.1 from zero
  kCoarse,     // operands of comparisons: halves, so that equals meet
  kUnbounded,  // of what asks whether a number is one: infinities and NaN among them
  kGains,      // weights of norms: no two alike, none near zero or one
  kNormed,     // what a norm takes statistics of: rows, halves of rows and groups that have none in common
  kLogits,     // of a softmax: wide, most rows decided by one tile
  kBias,       // of the size of the sums that it is added to
  kQueries,    // of an attention: 3 x, so that few keys count, and three of four rows look for a key at an edge
  kSinks,      // of an attention: scores without a value that compete with the best keys
  kRanked,     // what is sorted: the largest and the smallest of a row differ, or are there three times (every fourth)
  kReciprocals,  // 1, 1/2, 1/3, … of a row
  kBuffer,       // what the call overwrites: noise, so that a place that is never written shows
  // Structure, by the operator's own `fill`.
  kTokenIds,    // rows of the table that is looked up
  kPages,       // blocks of a cache, each once where there are enough
  kUsers,       // entries of a batch, each once
  kPositions,   // places in a cache
  kOffsets,     // where a batch begins in a larger one
  kMask,        // 0 or minus infinity; something is seen in every row
  kPredicate,   // 0 or 1
  kCosines,     // of rotary positions
  kSines,       // the same
  kRotation,    // the matrix that swaps pairs
  kIndices,     // 0, 1, 2, … of a row
  kBounds,      // begin or end of a slice
  kStatistics,  // mean squares of the other devices' parts
  kChannels,    // which channels of a tile belong to a group: 0 or 1
  kWeights,     // of a convolution: plain, zero between groups
};
std::string_view name_of(Role role);  // "plain", "token ids", …
// One line for the documentation.
std::string_view about(Role role);
std::span<const Role> all_roles();

}  // namespace opwright

// Ways to make a case plainer, one thing each. A step says what it would make of a case now; nothing where that is no
// change, or the rules allow none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shrink/dimensions.h"
#include "shrink/rules.h"
#include "shrink/subject.h"

namespace opwright::shrink {

inline constexpr std::string_view kDimensions = "dimensions", kRanks = "ranks", kArguments = "arguments",
                                  kMemories = "memory", kDtypes = "dtypes", kLayouts = "layouts", kValues = "values",
                                  kData = "data", kTiles = "tiles", kPlacements = "placements", kSequence = "sequence",
                                  kNeeds = "what matters";
inline constexpr std::string_view kPlainMemory = "memory(DRAM INTERLEAVED)", kNearMemory = "memory(L1 INTERLEAVED)";
inline constexpr std::string_view kPlainDtype = "BFLOAT16", kPlainLayout = "TILE", kPlainTile = "32x32",
                                  kPlainPlacement = "none", kPlainOrientation = "ROW_MAJOR";

struct Step {
  std::string_view kind;
  std::string fact;
  std::function<std::optional<Subject>(const Subject&)> apply;
};

// All of a case, the boldest first.
std::vector<Step> plainer(const Subject& subject, const Rules& rules);
std::vector<Step> fewer_ranks(const Subject& subject, const Rules& rules);
std::vector<Step> plainer_data(const Subject& subject);

// The fact of a tensor set to a value, of others with it where the rules want that.
std::optional<OpConfig> set_fact(const OpConfig& config, const std::string& fact, std::string_view value,
                                 const Rules& rules);
// Every tensor's fact that is `from` set to a value, as far as the rules allow.
OpConfig set_all(const OpConfig& config, std::string_view fact, std::string_view from, std::string_view value,
                 const Rules& rules);
// The rank of all tensors, and what follows it, one less or (`by` 1) one more.
std::optional<OpConfig> reranked(const OpConfig& config, int by, const Rules& rules);
// The smallest number that the rules allow for a dimension, below the one it has.
std::optional<Resized> smallest_size(const OpConfig& config, const std::string& fact, Reach reach, const Rules& rules);

}  // namespace opwright::shrink

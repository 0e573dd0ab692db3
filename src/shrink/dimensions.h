// A dimension made another number, with everything that must follow it: equal dimensions of other tensors, numbers
// among the arguments, products, shards. What must follow is not written down for any operator: the rules are asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_config.h"
#include "shrink/rules.h"

namespace opwright::shrink {

struct Place {
  std::string fact;  // input_tensor_a[-1], num_heads
  std::int64_t value = 0;
  bool tensor = true;
  std::int64_t axis = -1;
};
std::vector<Place> places_of(const OpConfig& config);
// Whether a dimension is the same as one of another tensor on its axis. That it becomes so may be why a case passes.
bool meets_another(const OpConfig& config, std::string_view fact, const std::vector<std::string>& followers = {});

enum class Reach : std::uint8_t {
  kTogether,  // all that are equal first, then fewer
  kAxis,      // those of the same axis first, then fewer
  kAlone,     // as few as the rules allow
};
struct Resized {
  OpConfig config;
  std::vector<std::string> facts;  // that changed to the same number, the one asked for first
};
// Nothing where the rules allow no way.
std::optional<Resized> resized(const OpConfig& config, std::string_view fact, std::int64_t value, Reach reach,
                               const Rules& rules);

}  // namespace opwright::shrink

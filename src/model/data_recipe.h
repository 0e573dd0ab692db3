// How the input data of a case is made. The same recipe gives the same bytes for every device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace opwright {

enum class Distribution : std::uint8_t {
  kNormal,
  kUniform01,
  kPositive,
  kIntegers,  // small whole numbers: sums and products of them are exact where the operator allows
};
std::string_view name_of(Distribution distribution);  // "N(0,1)", "U(0,1)", "|N(0,1)|+0.1", "integers"
std::string_view flag_of(Distribution distribution);  // as `--data` takes it: normal, uniform, positive, integers
std::optional<Distribution> parse_distribution(std::string_view flag);

struct DataRecipe {
  Distribution distribution = Distribution::kNormal;
  std::uint64_t seed = 1;
};

}  // namespace opwright

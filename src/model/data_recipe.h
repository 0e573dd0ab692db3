// How the input data of a case is made. The same recipe gives the same bytes for every device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opwright {

enum class Distribution : std::uint8_t {
  kNormal,
  kUniform01,
  kPositive,
  kIntegers,  // small whole numbers: sums and products of them are exact where the operator allows
  kZeros,     // the plainest data of all, for failures that need none in particular
  kOnes,
  kSpecial,  // N(0,1) with NaN, infinities, denormal and huge numbers, negative zeros among them
};
std::string_view name_of(Distribution distribution);  // "N(0,1)", "U(0,1)", "|N(0,1)|+0.1", "integers", …
std::string_view flag_of(Distribution distribution);  // as `--data` takes it: normal, uniform, positive, integers, …
std::optional<Distribution> parse_distribution(std::string_view flag);
// Why a flag is none: "no distribution 'pink'; normal, … or special".
std::string no_distribution(std::string_view flag);

// Whole numbers already: nothing plainer is to be tried beside them.
constexpr bool is_plain(Distribution distribution) {
  return distribution >= Distribution::kIntegers && distribution <= Distribution::kOnes;
}

struct DataRecipe {
  Distribution distribution = Distribution::kNormal;
  std::uint64_t seed = 1;
};

}  // namespace opwright

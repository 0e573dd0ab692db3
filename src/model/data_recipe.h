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

// The only numbers that stay as they were drawn: of one input, from an element to another. All others of floating-point
// inputs that are not structure become plain: 0, or 1 where an operator cannot take 0.
struct KeptNumbers {
  std::string input;  // the parameter: "weight", "tensors#1" of a list
  std::int64_t first = 0, last = 0;
  std::optional<double> value;  // what they are made, where they do not stay
  friend bool operator==(const KeptNumbers&, const KeptNumbers&) = default;
};

struct DataRecipe {
  Distribution distribution = Distribution::kNormal;
  std::uint64_t seed = 1;
  std::optional<KeptNumbers> kept = {};
};

// All of it but the seed, as `--data` takes it: "normal", "normal:weight@17", "normal:weight@16-31",
// "normal:weight@17=3".
std::string data_text(const DataRecipe& recipe);
// Seed 1. Nothing where it is none.
std::optional<DataRecipe> parse_data(std::string_view text);

}  // namespace opwright

#include "compare/function_end.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/bound.h"

namespace opwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kLargest = largest_of(DType::kBfloat16);  // e^88.7 or so

const EachOf kExp = [](std::span<double> values) {
  for (double& x : values) x = std::exp(x);
};
const EachOf kRoot = [](std::span<double> values) {
  for (double& x : values) x = std::sqrt(x);
};

bool near_largest(double given, double reach, double actual) {
  return at_an_end(kExp, kLargest, {.given = given, .reach = reach, .exact = std::exp(given), .actual = actual});
}

TEST(FunctionEnd, AnExponentialNearTheLargestNumberMayBeOnEitherSide) {
  EXPECT_TRUE(near_largest(89, 1, std::exp(88.2)));  // the exact one is infinite in bfloat16
  EXPECT_TRUE(near_largest(88.5, 1, kInfinity));
}

TEST(FunctionEnd, ButNoSmallerThanTheFunctionLeadsTo) {
  EXPECT_FALSE(near_largest(89, 1, std::exp(87.5)));
  EXPECT_FALSE(near_largest(89, 1, -std::exp(88.2)));
  EXPECT_FALSE(near_largest(89, 1, 0));
}

TEST(FunctionEnd, FarFromItNothingIsOpen) {
  EXPECT_FALSE(near_largest(95, 1, std::exp(88.2)));
  EXPECT_FALSE(near_largest(80, 1, kInfinity));
  EXPECT_FALSE(near_largest(kInfinity, 1, std::exp(88.2)));
}

TEST(FunctionEnd, ARootAtZeroMayBeNoNumber) {
  const double nan = std::nan("");
  EXPECT_TRUE(at_an_end(kRoot, kLargest, {.given = -0.01, .reach = 0.1, .exact = nan, .actual = 0.2}));
  EXPECT_TRUE(at_an_end(kRoot, kLargest, {.given = 0.01, .reach = 0.1, .exact = 0.1, .actual = nan}));
  EXPECT_FALSE(at_an_end(kRoot, kLargest, {.given = -1, .reach = 0.1, .exact = nan, .actual = 0.2}));
  EXPECT_FALSE(at_an_end(kRoot, kLargest, {.given = 1, .reach = 0.1, .exact = 1, .actual = nan}));
}

}  // namespace
}  // namespace opwright

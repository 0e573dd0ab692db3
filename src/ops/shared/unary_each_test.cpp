#include "ops/shared/unary_each.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ops/shared/unary_exact.h"

namespace opwright {
namespace {

// Many at once as one after the other, from the smallest numbers to the largest, in every lane and left over.
TEST(UnaryEach, IsTheFunctionItself) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> places{0.0,   -0.0,   infinity, -infinity, std::nan(""), 709.0,
                             709.5, -708.0, -709.0,   0x1p-1074, 1e300,        -1e300};
  for (double x = 1e-12; x < 1e4; x *= 1.01) {
    places.push_back(x);
    places.push_back(-x);
  }
  int known = 0;
  for (const char* name : {"exp", "gelu", "hardtanh", "leaky_relu", "relu", "relu6", "sigmoid", "sigmoid_accurate",
                           "silu", "square", "tanh"}) {
    const ExactEach each = find_exact_each(name);
    const ExactUnary one = find_exact_unary(name);
    ASSERT_NE(each, nullptr) << name;
    ASSERT_NE(one, nullptr) << name;
    ++known;
    for (const std::vector<double>& params : {std::vector<double>{}, std::vector<double>{0.25, 0.5}}) {
      std::vector<double> values = places;
      each(values, params);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double wanted = one(places[i], params);
        if (std::isnan(wanted)) {
          EXPECT_TRUE(std::isnan(values[i])) << name << " of " << places[i];
        } else if (std::isinf(wanted) || std::abs(wanted) > 1e307) {
          EXPECT_TRUE(std::isinf(values[i]) || std::abs(values[i]) > 1e307) << name << " of " << places[i];
        } else {
          EXPECT_NEAR(values[i], wanted, 3e-5 * std::abs(wanted) + 1e-35) << name << " of " << places[i];
        }
      }
    }
  }
  EXPECT_EQ(known, 11);
  EXPECT_EQ(find_exact_each("no such function"), nullptr);
}

}  // namespace
}  // namespace opwright

#include "replay/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opwright::replay {
namespace {

Values floats(std::vector<float> values) { return {std::move(values), {}}; }

TEST(Distance, EqualValuesHaveNone) {
  const Values exact = floats({1, 2, 3, -4});
  const Distance found = distance(floats({1, 2, 3, -4}), exact);
  EXPECT_EQ(found.rel_rms, 0);
  EXPECT_DOUBLE_EQ(found.pcc, 1);
  EXPECT_TRUE(found.is_finite);
}

TEST(Distance, AFactorShowsInTheErrorAndNotInThePcc) {
  const Values exact = floats({1, 2, 3, 4});
  const Distance found = distance(floats({1.1F, 2.2F, 3.3F, 4.4F}), exact);
  EXPECT_NEAR(found.rel_rms, 0.1, 1e-6);
  EXPECT_NEAR(found.pcc, 1, 1e-9);
}

TEST(Distance, ALargeOffsetCostsNoDigits) {
  std::vector<float> exact;
  std::vector<float> actual;
  for (int i = 0; i < 1000; ++i) {
    exact.push_back(static_cast<float>(1e6 + i));
    actual.push_back(static_cast<float>(1e6 + i + (i % 2 == 0 ? 1 : -1)));
  }
  const Distance found = distance(floats(actual), floats(exact));
  EXPECT_NEAR(found.pcc, 0.999994, 2e-6);
  EXPECT_NEAR(found.rel_rms, 1e-6, 1e-8);
}

TEST(Distance, ConstantsHaveNoPcc) {
  const Values exact = floats({2, 2, 2});
  EXPECT_TRUE(std::isnan(distance(floats({2, 2, 2}), exact).pcc));
}

TEST(Distance, ANumberWhereNoneIsDueIsSeen) {
  const Values exact = floats({1, std::numeric_limits<float>::infinity(), 3});
  EXPECT_FALSE(distance(floats({1, 2, 3}), exact).is_finite);
  EXPECT_TRUE(distance(floats({1, INFINITY, 3}), exact).is_finite);
  EXPECT_FALSE(distance(floats({1, INFINITY, NAN}), exact).is_finite);
}

TEST(Distance, IntegersCountToo) {
  Values ids;
  ids.ints = {1, 2, 5};
  Values exact;
  exact.ints = {1, 2, 4};
  EXPECT_GT(distance(ids, exact).rel_rms, 0.1);
}

// Whole lanes are summed in wide steps, the rest one by one: of any length the same figure.
TEST(Distance, EveryLengthAndEveryPartGivesTheSame) {
  for (std::size_t count = 1; count < 40; ++count) {
    Values actual, exact;
    double dd = 0, ee = 0;
    for (std::size_t i = 0; i < count; ++i) {
      exact.floats.push_back(static_cast<float>(i % 7) + 1);
      actual.floats.push_back(exact.floats.back() + (i % 3 == 0 ? 0.5F : -0.25F));
      const double d = static_cast<double>(actual.floats[i]) - exact.floats[i];
      dd += d * d;
      ee += static_cast<double>(exact.floats[i]) * exact.floats[i];
    }
    EXPECT_NEAR(distance(actual, exact).rel_rms, std::sqrt(dd / ee), 1e-12) << count;
    DistanceSums parts;
    for (std::size_t first = 0; first < count; first += 9) {
      Values some;
      some.floats.assign(exact.floats.begin() + static_cast<std::ptrdiff_t>(first),
                         exact.floats.begin() + static_cast<std::ptrdiff_t>(std::min(count, first + 9)));
      parts.add(actual, first, some);
    }
    EXPECT_NEAR(parts.result().rel_rms, std::sqrt(dd / ee), 1e-12) << count;
    EXPECT_EQ(parts.result().elements, static_cast<std::int64_t>(count));
  }
}

TEST(Distance, TheWorseOfTwoOutputsStays) {
  std::optional<Distance> worst;
  worsen(worst, {.pcc = 0.99, .rel_rms = 0.1, .elements = 4});
  worsen(worst, {.pcc = 0.999, .rel_rms = 0.2, .elements = 4});
  worsen(worst, {.pcc = std::numeric_limits<double>::quiet_NaN(), .rel_rms = 0, .elements = 1});
  EXPECT_EQ(worst->pcc, 0.99);
  EXPECT_EQ(worst->rel_rms, 0.2);
  EXPECT_EQ(worst->elements, 9);
}

}  // namespace
}  // namespace opwright::replay

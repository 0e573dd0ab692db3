#include "ops/shared/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/shared/attention_rules.h"

namespace opwright {
namespace {

HostTensor floats(Shape shape, std::vector<float> values) {
  HostTensor tensor;
  tensor.spec.shape = std::move(shape);
  tensor.spec.dtype.value = DType::kBfloat16;
  tensor.floats = std::move(values);
  return tensor;
}

TEST(Attention, WeighsValuesBySoftmaxOfTheScores) {
  const HostTensor keys = floats({1, 1, 2, 1}, {0, 1});
  const HostTensor values = floats({1, 1, 2, 1}, {0, 1});
  const float q = 2;
  Exact exact;
  append_attention({&keys, &values, nullptr}, {{.q = &q, .end = 2}, {.q = &q, .end = 1}, {.q = &q}}, 0.5, 1, {}, exact);
  EXPECT_NEAR(exact.value[0], std::exp(1.0) / (1 + std::exp(1.0)), 1e-12);
  EXPECT_EQ(exact.value[1], 0);
  EXPECT_EQ(exact.value[2], 0);  // sees nothing
}

TEST(Attention, ASinkTakesWeightAndGivesNothing) {
  const HostTensor keys = floats({1, 1, 1, 1}, {0});
  const HostTensor values = floats({1, 1, 1, 1}, {4});
  const float q = 1;
  const double sink = 0;
  Exact exact;
  append_attention({&keys, &values, nullptr}, {{.q = &q, .end = 1, .sink = &sink}}, 1, 1, {}, exact);
  EXPECT_DOUBLE_EQ(exact.value[0], 2);
}

// One key decides and its value is 0: what the others still weigh is all that a device can give there.
TEST(Attention, KeysThatWeighNothingHaveRoom) {
  const HostTensor keys = floats({1, 1, 2, 1}, {0, 30});
  const HostTensor values = floats({1, 1, 2, 1}, {8, 0});
  const float q = 1;
  Exact exact;
  append_attention({&keys, &values, nullptr}, {{.q = &q, .end = 2}}, 1, 1, {}, exact);
  EXPECT_EQ(exact.value[0], 0);
  EXPECT_GT(exact.magnitude[0], 8 * std::exp(-30.0));
  EXPECT_LT(exact.magnitude[0], 1e-7);
}

// Scores in the thousands: an error of a few units of a score lets another key decide.
TEST(Attention, CompetingKeysMayChangePlacesWhereScoresAreHuge) {
  const HostTensor keys = floats({1, 1, 2, 1}, {990, 1000});
  const HostTensor values = floats({1, 1, 2, 1}, {5, 0});
  const float q = 1;
  const double relative = 0.06;
  const auto bound = [&](double of_score) {
    Exact exact;
    append_attention({&keys, &values, nullptr}, {{.q = &q, .end = 2}}, 1, 1, {of_score, relative}, exact);
    EXPECT_NEAR(exact.value[0], 5 / (1 + std::exp(10.0)), 1e-9);
    return exact.magnitude[0] * relative;
  };
  EXPECT_LT(bound(0x1p-20), 0.1);
  EXPECT_GT(bound(0x1p-7), 4.9) << "the other key may decide";
  EXPECT_LT(bound(0x1p-7), 21);
}

// The rest of a row, then whole rows, then the start of one.
TEST(CoresFrom, WalksRowsOfTheRanges) {
  const auto cores = cores_from({2, 0}, 12, {{{0, 0}, {3, 3}}});
  ASSERT_TRUE(cores.has_value());
  ASSERT_EQ(cores->size(), 3U);
  EXPECT_EQ((*cores)[0], (CoreRange{{2, 0}, {3, 0}}));
  EXPECT_EQ((*cores)[1], (CoreRange{{0, 1}, {3, 2}}));
  EXPECT_EQ((*cores)[2], (CoreRange{{0, 3}, {1, 3}}));
  EXPECT_EQ(cores_from({0, 0}, 5, {{{0, 0}, {1, 1}}}).error().message,
            "Target number of cores 5 is greater than total available cores 4");
}

}  // namespace
}  // namespace opwright

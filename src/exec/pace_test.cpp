#include "exec/pace.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(Pace, WhoHasSeenNothingBelievesTheEstimate) {
  const Pace pace;
  EXPECT_FALSE(pace.knows_any());
  EXPECT_DOUBLE_EQ(pace.seconds(0, 0.5), 0.5);
}

TEST(Pace, ADeviceThatIsSlowIsSlowForWhatItHasNotRunYet) {
  Pace pace;
  for (int i = 0; i < 20; ++i) pace.ended(0, 0.1, 4.0);
  EXPECT_NEAR(pace.seconds(1, 0.1), 4, 0.5);
}

TEST(Pace, ACallOfAProgramCostsTheSameHoweverSmall) {
  Pace pace;
  for (int i = 1; i <= 20; ++i) pace.ended(0, 0.001 * i, 0.05 + 0.001 * i);
  EXPECT_NEAR(pace.seconds(0, 0.001), 0.05, 0.01);
  EXPECT_NEAR(pace.seconds(0, 2), 2, 0.3) << "and is not taken for a factor of fifty";
}

TEST(Pace, OperatorsDiffer) {
  Pace pace;
  for (int i = 0; i < 50; ++i) {
    pace.ended(0, 0.2, 0.1);
    pace.ended(1, 0.2, 2.0);
    pace.ended(2, 0.001, 0.0005);
  }
  EXPECT_NEAR(pace.seconds(0, 0.2), 0.1, 0.02);
  EXPECT_NEAR(pace.seconds(1, 0.2), 2.0, 0.1);
  EXPECT_GT(pace.seconds(3, 0.2), 0.3) << "an operator that was not seen is one of all";
}

}  // namespace
}  // namespace opwright

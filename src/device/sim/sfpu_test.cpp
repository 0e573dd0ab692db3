#include "device/sim/sfpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "device/sim/sfpu_lane.h"

namespace opwright::sim {
namespace {

TEST(Sfpu, NamesOfFunctionsAndOfTheLibrarysEnum) {
  EXPECT_EQ(find_unary("gelu"), Unary::kGelu);
  EXPECT_EQ(find_unary("UnaryOpType.SILU"), Unary::kSilu);
  EXPECT_EQ(find_unary("UnaryOpType::RECIP"), Unary::kReciprocal);
  EXPECT_FALSE(find_unary("frobnicate"));
  EXPECT_EQ(name_of(Unary::kLeakyRelu), "leaky_relu");
}

TEST(Sfpu, SixteenBitResultsAreOffByAUnitAtMost) {
  for (const Unary op : {Unary::kExp, Unary::kSigmoid, Unary::kTanh, Unary::kSqrt, Unary::kLog, Unary::kErf}) {
    for (const float x : {0.01F, 0.5F, 1.25F, 3.0F, 7.5F}) {
      const double exact = op == Unary::kExp       ? std::exp(x)
                           : op == Unary::kSigmoid ? 1 / (1 + std::exp(-static_cast<double>(x)))
                           : op == Unary::kTanh    ? std::tanh(x)
                           : op == Unary::kSqrt    ? std::sqrt(x)
                           : op == Unary::kLog     ? std::log(x)
                                                   : std::erf(x);
      const float result = sfpu(op, x, Dst::kBf16, false);
      EXPECT_EQ(lane::bits_of(result) & 0xFFFF, 0U);
      EXPECT_NEAR(result, exact, std::fabs(exact) / 100) << name_of(op) << " of " << x;
    }
  }
}

TEST(Sfpu, ApproximationsAreAsRoughAsTheDevices) {
  EXPECT_EQ(sfpu(Unary::kExp, 0.0F, Dst::kBf16, true), 0.9765625F);
  EXPECT_EQ(sfpu(Unary::kGelu, 0.0F, Dst::kBf16, true), lane::value_of(0xB8DB0000));
  EXPECT_EQ(sfpu(Unary::kExp, 0.0F, Dst::kBf16, false), 1.0F);
}

TEST(Sfpu, LargeAnglesGrowWithoutBound) {
  EXPECT_NEAR(sfpu(Unary::kSin, 3.0F, Dst::kBf16, false), std::sin(3.0), 0.002);
  EXPECT_GT(std::fabs(sfpu(Unary::kSin, 0x1p36F, Dst::kBf16, false)), 1.0F);
}

TEST(Sfpu, ComparisonsSeeTheBits) {
  const float denormal = 1e-40F;
  EXPECT_EQ(sfpu(Unary::kGtz, denormal, Dst::kBf16, false), 1.0F);
  EXPECT_EQ(sfpu(Unary::kSign, -0.0F, Dst::kBf16, false), -1.0F);
  EXPECT_EQ(sfpu(Unary::kRelu, std::numeric_limits<float>::quiet_NaN(), Dst::kBf16, false), INFINITY);
  EXPECT_EQ(sfpu(Unary::kIsnan, -std::numeric_limits<float>::quiet_NaN(), Dst::kBf16, false), 1.0F);
}

TEST(Sfpu, ParametersAreUsed) {
  const float slope[] = {0.25F};
  EXPECT_EQ(sfpu(Unary::kLeakyRelu, -4.0F, Dst::kBf16, false, slope), -1.0F);
  const float limits[] = {-0.5F, 0.75F};
  EXPECT_EQ(sfpu(Unary::kClamp, 3.0F, Dst::kBf16, false, limits), 0.75F);
}

// Many elements are looked up, few are computed: the same results.
TEST(Sfpu, ATableChangesNothing) {
  std::vector<float> values;
  for (int i = 0; i < 100000; ++i) values.push_back(lane::value_of(static_cast<std::uint32_t>(i % 65536) << 16));
  values.push_back(1.23456789F);  // more than 16 bits
  const std::vector<float> inputs = values;
  sfpu(Unary::kSilu, values, Dst::kBf16, false);
  for (std::size_t i = 0; i < values.size(); i += 37) {
    EXPECT_EQ(lane::bits_of(values[i]), lane::bits_of(sfpu(Unary::kSilu, inputs[i], Dst::kBf16, false)));
  }
  EXPECT_EQ(values.back(), sfpu(Unary::kSilu, inputs.back(), Dst::kBf16, false));
}

TEST(Sfpu, A32BitDestinationKeepsMore) {
  EXPECT_NEAR(sfpu(Unary::kExp, 1.0F, Dst::kFp32, false), std::exp(1.0), 1e-6);
  EXPECT_NEAR(sfpu(Unary::kGelu, 1.0F, Dst::kFp32, false), 0.8413447, 1e-6);
}

}  // namespace
}  // namespace opwright::sim

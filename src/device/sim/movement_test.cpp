#include "device/sim/movement.h"

#include <gtest/gtest.h>

#include <numeric>

namespace opwright::sim {
namespace {

OutputSpec tensor(Shape shape, DType dtype) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = Layout::kTile;
  return output_spec(std::move(spec));
}

HostTensor counting(Shape shape) {
  HostTensor out = unwritten(tensor(std::move(shape), DType::kFloat32));
  std::iota(out.floats.begin(), out.floats.end(), 0.0F);
  return out;
}

// Sizes that are no multiple of the squares in which dimensions swap, so that every edge is walked.
TEST(Movement, WindowTurnsAnyTwoDimensions) {
  const HostTensor input = counting({3, 37, 70});
  HostTensor out = unwritten(tensor({70, 3, 37}, DType::kFloat32));
  copy_window(input,
              {.shape = {70, 3, 37}, .from_strides = {1, 37 * 70, 70}, .to_strides = row_major_strides({70, 3, 37})},
              out);
  for (std::int64_t a = 0; a < 70; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t c = 0; c < 37; ++c)
        ASSERT_EQ(out.at((a * 3 + b) * 37 + c), input.at((b * 37 + c) * 70 + a)) << a << ' ' << b << ' ' << c;
}

TEST(Movement, WindowTakesEverySecondElement) {
  const HostTensor input = counting({4, 10});
  HostTensor out = unwritten(tensor({2, 3}, DType::kFloat32));
  copy_window(input, {.shape = {2, 3}, .from_strides = {20, 2}, .from = 11, .to_strides = {3, 1}}, out);
  EXPECT_EQ(out.floats, (std::vector<float>{11, 13, 15, 31, 33, 35}));
}

TEST(Movement, AnEmptyWindowTouchesNothing) {
  const HostTensor input = counting({2, 2});
  HostTensor out = unwritten(tensor({0, 2}, DType::kFloat32));
  copy_window(input, {.shape = {0, 2}, .from_strides = {2, 1}, .to_strides = {2, 1}}, out);
  EXPECT_TRUE(out.floats.empty());
}

TEST(Movement, FloatsBecomeIntegersAsTheVectorUnitMakesThem) {
  HostTensor input = unwritten(tensor({1, 4}, DType::kFloat32));
  input.floats = {-1.75F, 2.5F, 3.0e9F, 300.0F};
  EXPECT_EQ(convert(input, tensor({1, 4}, DType::kInt32)).ints, (std::vector<std::int64_t>{-1, 2, 2147483647, 300}));
  EXPECT_EQ(convert(input, tensor({1, 4}, DType::kUint32)).ints, (std::vector<std::int64_t>{0, 2, 3000000000, 300}));
  EXPECT_EQ(convert(input, tensor({1, 4}, DType::kUint16)).ints, (std::vector<std::int64_t>{0, 2, 65535, 300}));
  EXPECT_EQ(convert(input, tensor({1, 4}, DType::kUint8)).ints[3], 300 - 256);
}

// 1 and 1/128 in one group of 16: the small one lies below the last bit of the shared exponent.
TEST(Movement, RepackSharesExponentsAnew) {
  HostTensor out{tensor({1, 16}, DType::kBfloat8B).spec, std::vector<float>(16), {}};
  out.floats[0] = 1.0F;
  out.floats[1] = 1.0F / 256;
  repack(out);
  EXPECT_EQ(out.floats[0], 1.0F);
  EXPECT_EQ(out.floats[1], 0.0F);
}

}  // namespace
}  // namespace opwright::sim

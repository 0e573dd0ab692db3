#include "ops/shared/matmul_exact.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/all_ops.h"

namespace opwright {
namespace {

TEST(ExactProduct, EqualsTheTextbookLoop) {
  constexpr std::int64_t kM = 67;
  constexpr std::int64_t kK = 301;
  constexpr std::int64_t kN = 133;
  Random random(3);
  std::vector<double> a(kM * kK);
  std::vector<double> b(kK * kN);
  for (double& x : a) x = random.normal();
  for (double& x : b) x = random.normal();
  std::vector<double> value(kM * kN);
  std::vector<double> magnitude(kM * kN);
  exact_product({.rows = kM,
                 .k = kK,
                 .n = kN,
                 .left = [&](std::int64_t row, std::int64_t first, std::int64_t count,
                             double* out) { std::copy_n(a.data() + row * kK + first, count, out); },
                 .right = [&](std::int64_t row, std::int64_t first, std::int64_t count,
                              double* out) { std::copy_n(b.data() + row * kN + first, count, out); },
                 .value = value.data(),
                 .magnitude = magnitude.data()});
  for (const auto& [i, j] : {std::pair{0, 0}, std::pair{66, 132}, std::pair{31, 77}, std::pair{64, 127}}) {
    double sum = 0;
    double size = 0;
    for (std::int64_t k = 0; k < kK; ++k) {
      sum += a[static_cast<std::size_t>(i * kK + k)] * b[static_cast<std::size_t>(k * kN + j)];
      size += std::fabs(a[static_cast<std::size_t>(i * kK + k)] * b[static_cast<std::size_t>(k * kN + j)]);
    }
    EXPECT_NEAR(value[static_cast<std::size_t>(i * kN + j)], sum, 1e-11);
    EXPECT_NEAR(magnitude[static_cast<std::size_t>(i * kN + j)], size, 1e-11);
  }
}

// 1x3x3 image of one channel, one 2x2 window of ones, padding 1 on the right and below: sums that one can see.
TEST(ConvReference, SumsUnderTheWindow) {
  TensorSpec image;
  image.shape = {1, 1, 9, 1};
  image.dtype.value = DType::kBfloat16;
  TensorSpec weight = image;
  weight.shape = {1, 1, 2, 2};
  weight.storage.value = StorageType::kHost;
  const auto number = [](std::int64_t n) { return Value(n); };
  const auto pair = [&](std::int64_t a, std::int64_t b) { return Value(List{number(a), number(b)}); };
  OpConfig config;
  config.op = "ttnn.conv2d";
  config.args = {{"input_tensor", Value::tensor(image)},
                 {"weight_tensor", Value::tensor(weight)},
                 {"in_channels", number(1)},
                 {"out_channels", number(1)},
                 {"batch_size", number(1)},
                 {"input_height", number(3)},
                 {"input_width", number(3)},
                 {"kernel_size", pair(2, 2)},
                 {"padding", Value(List{number(0), number(1), number(0), number(1)})}};
  const OpSpec* op = find_op("ttnn.conv2d");
  ASSERT_NE(op, nullptr);
  const auto call = bind(*op, config);
  ASSERT_TRUE(call) << call.error().message;
  const auto outputs = op->infer(*call, find_board("n150").value());
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(outputs->at(0).spec.shape, (Shape{1, 1, 9, 1}));
  const std::vector<HostTensor> inputs{{image, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {}}, {weight, {1, 1, 1, 1}, {}}};
  const Rows rows{.total = 9, .length = 1, .picked = {0, 5, 8}};
  const auto exact = op->reference({*call, inputs, *outputs, 0, rows});
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ(exact->value, (std::vector<double>{1 + 2 + 4 + 5, 6 + 9, 9}));
}

}  // namespace
}  // namespace opwright

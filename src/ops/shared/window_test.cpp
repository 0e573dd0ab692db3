#include "ops/shared/window.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

Value numbers(const Shape& values) {
  List list;
  for (const std::int64_t n : values) list.emplace_back(n);
  return Value(std::move(list));
}

// PyTorch's formula of pooling, in its words: the number of outputs along one axis.
std::int64_t pytorch(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                     std::int64_t dilation, bool ceil_mode) {
  const std::int64_t room = input + 2 * padding - dilation * (kernel - 1) - 1;
  std::int64_t out = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (out - 1) * stride >= input + padding) --out;
  return out;
}

TEST(Window, OutputsAsPyTorchCountsThem) {
  for (std::int64_t input = 3; input < 20; ++input)
    for (const std::int64_t kernel : {1, 2, 3, 4})
      for (const std::int64_t stride : {1, 2, 3, 5})
        for (std::int64_t padding = 0; padding <= kernel / 2; ++padding)
          for (const std::int64_t dilation : {1, 2})
            for (const bool ceil_mode : {false, true}) {
              if (input + 2 * padding < dilation * (kernel - 1) + 1) continue;
              const BoundCall call{"ttnn.max_pool2d",
                                   Convention::kPython,
                                   {{"batch_size", Value(std::int64_t{1})},
                                    {"input_h", Value(input)},
                                    {"input_w", Value(std::int64_t{7})},
                                    {"kernel_size", numbers({kernel, 1})},
                                    {"stride", numbers({stride, 1})},
                                    {"padding", numbers({padding, 0})},
                                    {"dilation", numbers({dilation, 1})}}};
              const auto w = window_of(call, "input_h", "input_w", ceil_mode);
              ASSERT_TRUE(w) << w.error().message;
              EXPECT_EQ(w->out_height, pytorch(input, kernel, stride, padding, dilation, ceil_mode));
              EXPECT_EQ(w->out_width, 7);
            }
}

TEST(Window, FourPaddingsAreThoseOfTheSides) {
  const BoundCall call{"ttnn.conv2d",
                       Convention::kPython,
                       {{"batch_size", Value(std::int64_t{2})},
                        {"input_height", Value(std::int64_t{5})},
                        {"input_width", Value(std::int64_t{6})},
                        {"kernel_size", numbers({2, 3})},
                        {"padding", numbers({1, 2, 3, 4})}}};
  const auto w = window_of(call, "input_height", "input_width");
  ASSERT_TRUE(w);
  EXPECT_EQ(w->top, 1);
  EXPECT_EQ(w->bottom, 2);
  EXPECT_EQ(w->left, 3);
  EXPECT_EQ(w->right, 4);
  EXPECT_EQ(w->out_height, 7);
  EXPECT_EQ(w->out_width, 11);
  EXPECT_EQ(w->pixels(), 2 * 7 * 11);
}

TEST(Window, SizesBeyondAnyMemoryAreRefused) {
  constexpr std::int64_t kHuge = 2147483647;
  for (const char* param : {"kernel_size", "padding", "sizes"}) {
    BoundCall call{"ttnn.conv2d",
                   Convention::kPython,
                   {{"batch_size", Value(std::int64_t{2})},
                    {"input_height", Value(std::int64_t{5})},
                    {"input_width", Value(std::int64_t{6})}}};
    for (const char* size : {"batch_size", "input_height", "input_width"})
      if (std::string_view(param) == "sizes") call.set(size, Value(kHuge));
    if (std::string_view(param) != "sizes") call.set("padding", numbers({kHuge, kHuge}));
    if (std::string_view(param) == "kernel_size") call.set("kernel_size", numbers({kHuge, kHuge}));
    EXPECT_FALSE(window_of(call, "input_height", "input_width")) << param;
  }
}

}  // namespace
}  // namespace opwright

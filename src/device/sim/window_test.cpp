#include "device/sim/window.h"

#include <gtest/gtest.h>

#include <vector>

namespace opwright::sim {
namespace {

Value number(std::int64_t n) { return Value(n); }
Value numbers(const Shape& values) {
  List list;
  for (const std::int64_t n : values) list.push_back(number(n));
  return Value(std::move(list));
}

BoundCall call_of(std::int64_t images, std::int64_t high, std::int64_t wide, const Shape& kernel, const Shape& stride,
                  const Shape& padding, const Shape& dilation) {
  return {"ttnn.max_pool2d",
          Convention::kPython,
          {{"batch_size", number(images)},
           {"input_h", number(high)},
           {"input_w", number(wide)},
           {"kernel_size", numbers(kernel)},
           {"stride", numbers(stride)},
           {"padding", numbers(padding)},
           {"dilation", numbers(dilation)}}};
}

using Taps = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(Windows, TapsOnTheImageAreThoseOfTheDefinition) {
  for (const std::int64_t kernel : {1, 2, 3, 5})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t dilation : {1, 2, 4})
        for (const std::int64_t top : {0, 1, 2})
          for (const std::int64_t bottom : {0, 3}) {
            const std::int64_t high = 17;
            const std::int64_t wide = 6;
            const auto w =
                windows_of(call_of(2, high, wide, {kernel, 2}, {stride, 1}, {top, bottom, 1, 0}, {dilation, 1}),
                           "input_h", "input_w");
            if (top + high + bottom < dilation * (kernel - 1) + 1) {
              EXPECT_FALSE(w);
              continue;
            }
            ASSERT_TRUE(w) << w.error().message;
            std::int64_t lines = 0;
            while (lines * stride + dilation * (kernel - 1) < top + high + bottom) ++lines;
            ASSERT_EQ(w->rows.windows, lines);
            ASSERT_EQ(w->columns.windows, wide);
            for (std::int64_t pixel = 0; pixel < w->pixels(); ++pixel) {
              Taps expected;
              const std::int64_t image = pixel / (lines * wide);
              for (std::int64_t i = 0; i < kernel; ++i)
                for (std::int64_t j = 0; j < 2; ++j) {
                  const std::int64_t y = pixel / wide % lines * stride + i * dilation - top;
                  const std::int64_t x = pixel % wide + j - 1;
                  if (y >= 0 && y < high && x >= 0 && x < wide)
                    expected.emplace_back(i * 2 + j, (image * high + y) * wide + x);
                }
              Taps seen;
              for_each_tap(*w, pixel, [&](std::int64_t tap, std::int64_t at) { seen.emplace_back(tap, at); });
              ASSERT_EQ(seen, expected) << "pixel " << pixel;
            }
          }
}

// What PyTorch's max_pool2d returns for a row of 10 with a window of 3 and stride 3: 3 windows, 4 with ceil_mode; with
// stride 4 and padding 1 the fourth would begin outside of the image.
TEST(Windows, APartialWindowBeginsOnTheImage) {
  const auto count = [](std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                        bool partial) {
    const auto w =
        windows_of(call_of(1, size, 1, {kernel, 1}, {stride, 1}, {padding, 0}, {1, 1}), "input_h", "input_w", partial);
    return w ? w->rows.windows : -1;
  };
  EXPECT_EQ(count(10, 3, 3, 0, false), 3);
  EXPECT_EQ(count(10, 3, 3, 0, true), 4);
  EXPECT_EQ(count(9, 3, 3, 0, true), 3);
  EXPECT_EQ(count(11, 2, 4, 1, false), 3);
  EXPECT_EQ(count(11, 2, 4, 1, true), 3);
  EXPECT_EQ(count(12, 2, 4, 1, true), 4);
  EXPECT_EQ(count(2, 3, 1, 0, true), -1);
}

TEST(Windows, OneNumberStandsForBothAxes) {
  BoundCall call = call_of(1, 8, 8, {2, 2}, {2, 2}, {0, 0}, {1, 1});
  call.set("kernel_size", number(4));
  call.set("stride", number(4));
  const auto w = windows_of(call, "input_h", "input_w");
  ASSERT_TRUE(w);
  EXPECT_EQ(w->rows.windows, 2);
  EXPECT_EQ(w->columns.windows, 2);
}

}  // namespace
}  // namespace opwright::sim

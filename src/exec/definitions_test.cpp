// Judge and judged beside a third: operators whose elements are found by an index, computed here as textbooks write
// them, and compared with the reference and with the kernel each. On whole numbers all three are exact, so that one
// wrong index on any side is a difference.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "device/device.h"
#include "exec/case_data.h"
#include "exec/case_line.h"
#include "exec/plan_call.h"

namespace opwright {
namespace {

using Tensors = std::vector<HostTensor>;
using Definition = std::function<std::vector<double>(const Tensors& inputs)>;

void compare(const std::string& line, const Definition& definition) {
  SCOPED_TRACE(line);
  auto device = open_device("sim:n150");
  ASSERT_TRUE(device);
  const auto config = parse_case(line);
  ASSERT_TRUE(config);
  const auto plan = plan_call(*config, (*device)->can().board);
  ASSERT_TRUE(plan) << plan.error().message;
  const Tensors inputs = make_inputs(*plan->op, plan->call, {.distribution = Distribution::kIntegers, .seed = 5});
  const std::vector<double> expected = definition(inputs);
  const Shape& shape = plan->outputs[0].spec.shape;
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), volume(shape));

  const auto run = (*device)->run({plan->call, plan->outputs}, inputs);
  ASSERT_TRUE(run) << run.error().message;
  const HostTensor& computed = run->outputs[0];
  ASSERT_EQ(computed.size(), volume(shape));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(computed.at(static_cast<std::int64_t>(i)), expected[i]) << "the kernel, element " << i;

  const Rows rows{.total = volume(shape) / row_length(shape), .length = row_length(shape), .picked = {}};
  const auto exact = plan->op->reference({plan->call, inputs, plan->outputs, 0, rows});
  ASSERT_TRUE(exact) << exact.error().message;
  ASSERT_EQ(exact->value, expected) << "the reference";
}

std::string tensor(const std::string& shape, const std::string& dtype = "BFLOAT16", const std::string& layout = "TILE",
                   const std::string& place = "DEVICE") {
  return "tensor([" + shape + "] " + dtype + " " + layout + " " + place + " memory(DRAM INTERLEAVED))";
}

// An image with channels last, 0 (or what is asked) around it.
struct Image {
  const HostTensor& data;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  double around = 0;

  double at(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return around;
    return data.at(n * height * width * channels + y * width * channels + x * channels + c);
  }
};

// 2 images of 7x5, windows of 3x2, stride 2 and 1, dilation 1 and 2, padding 1 above, 2 below, 0 left, 3 right:
// 4 windows down, 6 across. `weight(o, c, i, j)`; channel c of group g is channel g * in + c of the image.
std::vector<double> convolution(const Image& image, std::int64_t groups, std::int64_t in, std::int64_t out,
                                const std::function<double(int, int, int, int)>& weight) {
  std::vector<double> result;
  for (int n = 0; n < 2; ++n)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 6; ++x)
        for (int o = 0; o < static_cast<int>(out); ++o) {
          const std::int64_t group = o / (out / groups);
          double sum = 0;
          for (int c = 0; c < static_cast<int>(in); ++c)
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 2; ++j)
                sum += weight(o, c, i, j) * image.at(n, 2 * y + i - 1, x + 2 * j, group * in + c);
          result.push_back(sum);
        }
  return result;
}

constexpr char kGeometry[] =
    "batch_size=2, input_height=7, input_width=5, kernel_size=[3,2], stride=[2,1], padding=[1,2,0,3], dilation=[1,2]";

TEST(Definitions, Convolution) {
  compare("ttnn.conv2d(input_tensor=" + tensor("1,1,70,8", "BFLOAT16", "ROW_MAJOR") +
              ", weight_tensor=" + tensor("6,8,3,2", "BFLOAT16", "ROW_MAJOR", "HOST") +
              ", bias_tensor=" + tensor("1,1,1,6", "BFLOAT16", "ROW_MAJOR", "HOST") +
              ", in_channels=8, out_channels=6, " + kGeometry + ")",
          [](const Tensors& in) {
            auto result = convolution({in[0], 7, 5, 8}, 1, 8, 6,
                                      [&](int o, int c, int i, int j) { return in[1].at(o * 48 + c * 6 + i * 2 + j); });
            for (std::size_t k = 0; k < result.size(); ++k) result[k] += in[2].at(static_cast<std::int64_t>(k % 6));
            return result;
          });
}

TEST(Definitions, ConvolutionInGroups) {
  compare("ttnn.conv2d(input_tensor=" + tensor("1,1,70,12", "BFLOAT16", "ROW_MAJOR") +
              ", weight_tensor=" + tensor("6,4,3,2", "BFLOAT16", "ROW_MAJOR", "HOST") +
              ", in_channels=12, out_channels=6, groups=3, " + kGeometry + ")",
          [](const Tensors& in) {
            return convolution({in[0], 7, 5, 12}, 3, 4, 6,
                               [&](int o, int c, int i, int j) { return in[1].at(o * 24 + c * 6 + i * 2 + j); });
          });
}

TEST(Definitions, ConvolutionWithWeightsThatTheLibraryLaidOut) {
  compare("ttnn.conv2d(input_tensor=" + tensor("1,1,70,16", "BFLOAT16", "ROW_MAJOR") +
              ", weight_tensor=" + tensor("1,1,96,32") + ", in_channels=16, out_channels=32, " + kGeometry + ")",
          [](const Tensors& in) {
            return convolution({in[0], 7, 5, 16}, 1, 16, 32, [&](int o, int c, int i, int j) {
              return in[1].at(i * 2 * 16 * 32 + j * 16 * 32 + c * 32 + o);
            });
          });
}

TEST(Definitions, LargestUnderAWindow) {
  // Stride 3 with ceil_mode: the last window across begins in the last column and ends outside.
  compare("ttnn.max_pool2d(input_tensor=" + tensor("1,1,70,8", "BFLOAT16", "ROW_MAJOR") +
              ", batch_size=2, input_h=5, input_w=7, channels=8, kernel_size=[3,2], stride=[2,3], padding=[1,0,0,0], "
              "dilation=[1,1], ceil_mode=true)",
          [](const Tensors& in) {
            const double lowest = -std::numeric_limits<double>::infinity();
            const Image image{in[0], 5, 7, 8, lowest};
            std::vector<double> result;
            for (int n = 0; n < 2; ++n)
              for (int y = 0; y < 3; ++y)
                for (int x = 0; x < 3; ++x)
                  for (int c = 0; c < 8; ++c) {
                    double largest = lowest;
                    for (int i = 0; i < 3; ++i)
                      for (int j = 0; j < 2; ++j) largest = std::max(largest, image.at(n, 2 * y + i - 1, 3 * x + j, c));
                    result.push_back(largest);
                  }
            return result;
          });
}

TEST(Definitions, MeanUnderAWindow) {
  compare("ttnn.avg_pool2d(input_tensor=" + tensor("1,1,70,8", "BFLOAT16", "ROW_MAJOR") +
              ", batch_size=2, input_h=5, input_w=7, channels=8, kernel_size=[2,2], stride=[2,1], padding=[1,0,0,1], "
              "divisor_override=4)",
          [](const Tensors& in) {
            const Image image{in[0], 5, 7, 8};
            std::vector<double> result;
            for (int n = 0; n < 2; ++n)
              for (int y = 0; y < 3; ++y)
                for (int x = 0; x < 7; ++x)
                  for (int c = 0; c < 8; ++c)
                    result.push_back((image.at(n, 2 * y - 1, x, c) + image.at(n, 2 * y - 1, x + 1, c) +
                                      image.at(n, 2 * y, x, c) + image.at(n, 2 * y, x + 1, c)) /
                                     4);
            return result;
          });
}

// Windows of 2x2 over 5x7 with ceil_mode: the last one down and across hangs over, and what it does not cover is not
// counted, padding or not (as PyTorch defines it). Divisors are 4, 2 and 1, so that means of whole numbers are exact.
TEST(Definitions, MeanUnderAWindowThatHangsOver) {
  for (const char* counting : {"count_include_pad=true", "count_include_pad=false"}) {
    compare("ttnn.avg_pool2d(input_tensor=" + tensor("1,1,35,8", "BFLOAT16", "ROW_MAJOR") +
                ", batch_size=1, input_h=5, input_w=7, channels=8, kernel_size=[2,2], stride=[2,2], padding=[0,0], "
                "ceil_mode=true, " +
                counting + ")",
            [](const Tensors& in) {
              const Image image{in[0], 5, 7, 8};
              std::vector<double> result;
              for (int y = 0; y < 5; y += 2)
                for (int x = 0; x < 7; x += 2)
                  for (int c = 0; c < 8; ++c) {
                    const double sum = image.at(0, y, x, c) + image.at(0, y, x + 1, c) + image.at(0, y + 1, x, c) +
                                       image.at(0, y + 1, x + 1, c);
                    result.push_back(sum / ((y == 4 ? 1 : 2) * (x == 6 ? 1 : 2)));
                  }
              return result;
            });
  }
}

// a[b][i][k] * b[b][k][j], where the place of an element is given.
using Place = std::function<std::int64_t(std::int64_t batch, std::int64_t row, std::int64_t column)>;
std::vector<double> product(const Tensors& in, std::int64_t batches, std::int64_t m, std::int64_t k, std::int64_t n,
                            const Place& left, const Place& right) {
  std::vector<double> result;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < k; ++x) sum += in[0].at(left(b, i, x)) * in[1].at(right(b, x, j));
        result.push_back(sum);
      }
  return result;
}

TEST(Definitions, Products) {
  const Place wide_a = [](auto b, auto i, auto x) { return b * 5 * 12 + i * 12 + x; };
  const Place wide_b = [](auto b, auto x, auto j) { return b * 12 * 7 + x * 7 + j; };
  const Place first_a = [](auto, auto i, auto x) { return i * 12 + x; };
  const Place first_b = [](auto, auto x, auto j) { return x * 7 + j; };
  const Place turned_a = [](auto b, auto i, auto x) { return b * 5 * 12 + x * 5 + i; };
  const Place turned_b = [](auto b, auto x, auto j) { return b * 12 * 7 + j * 12 + x; };
  compare("ttnn.matmul(" + tensor("2,3,5,12") + ", " + tensor("2,3,12,7") + ")",
          [&](const Tensors& in) { return product(in, 6, 5, 12, 7, wide_a, wide_b); });
  compare("ttnn.matmul(" + tensor("3,1,5,12") + ", " + tensor("12,7") + ")",
          [&](const Tensors& in) { return product(in, 3, 5, 12, 7, wide_a, first_b); });
  compare("ttnn.matmul(" + tensor("1,1,5,12") + ", " + tensor("3,1,12,7") + ")",
          [&](const Tensors& in) { return product(in, 3, 5, 12, 7, first_a, wide_b); });
  compare("ttnn.matmul(" + tensor("2,1,12,5") + ", " + tensor("2,1,7,12") + ", transpose_a=true, transpose_b=true)",
          [&](const Tensors& in) { return product(in, 2, 5, 12, 7, turned_a, turned_b); });
}

TEST(Definitions, ProductsOfVectors) {
  compare("ttnn.matmul(" + tensor("5,12") + ", " + tensor("12") + ")", [](const Tensors& in) {
    return product(
        in, 1, 5, 12, 1, [](auto, auto i, auto x) { return i * 12 + x; }, [](auto, auto x, auto) { return x; });
  });
  compare("ttnn.matmul(" + tensor("12") + ", " + tensor("12,7") + ")", [](const Tensors& in) {
    return product(
        in, 1, 1, 12, 7, [](auto, auto, auto x) { return x; }, [](auto, auto x, auto j) { return x * 7 + j; });
  });
}

// One row is repeated; a bias of more rows is added elementwise, also where it is no higher than a tile.
TEST(Definitions, ABiasStretches) {
  const auto with = [](std::int64_t across, std::int64_t rows) {
    return [=](const Tensors& in) {
      std::vector<double> result = product(
          in, 3, 40, 12, 7, [](auto b, auto i, auto x) { return b * 480 + i * 12 + x; },
          [](auto, auto x, auto j) { return x * 7 + j; });
      for (std::size_t k = 0; k < result.size(); ++k) {
        const auto at = static_cast<std::int64_t>(k);
        result[k] += in[2].at((rows == 1 ? 0 : at / 7 % rows) * across + (across == 1 ? 0 : at % 7));
      }
      return result;
    };
  };
  const std::string start = "ttnn.linear(" + tensor("3,1,40,12") + ", " + tensor("1,1,12,7") + ", bias=";
  compare(start + tensor("1,1,1,7") + ")", with(7, 1));
  compare(start + tensor("1,1,40,7") + ")", with(7, 40));
  compare(start + tensor("1,1,40,1") + ")", with(1, 40));
  compare("ttnn.linear(" + tensor("1,1,16,12") + ", " + tensor("1,1,12,7") + ", bias=" + tensor("16,7") + ")",
          [](const Tensors& in) {
            std::vector<double> result = product(
                in, 1, 16, 12, 7, [](auto, auto i, auto x) { return i * 12 + x; },
                [](auto, auto x, auto j) { return x * 7 + j; });
            for (std::size_t k = 0; k < result.size(); ++k) result[k] += in[2].at(static_cast<std::int64_t>(k));
            return result;
          });
}

TEST(Definitions, OperandsThatStretch) {
  // Place of an element of the second operand for that of the first, [2,3,4,5].
  const auto sum = [](const std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& at) {
    return [=](const Tensors& in) {
      std::vector<double> result;
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t c = 0; c < 3; ++c)
          for (std::int64_t h = 0; h < 4; ++h)
            for (std::int64_t w = 0; w < 5; ++w)
              result.push_back(in[0].at(b * 60 + c * 20 + h * 5 + w) + in[1].at(at(b, c, h, w)));
      return result;
    };
  };
  for (const std::string dtype : {"BFLOAT16", "INT32"}) {
    const std::string start = "ttnn.add(" + tensor("2,3,4,5", dtype) + ", ";
    compare(start + tensor("2,1,4,1", dtype) + ")", sum([](auto b, auto, auto h, auto) { return b * 4 + h; }));
    compare(start + tensor("3,1,5", dtype) + ")", sum([](auto, auto c, auto, auto w) { return c * 5 + w; }));
    compare(start + tensor("2,1,1,5", dtype) + ")", sum([](auto b, auto, auto, auto w) { return b * 5 + w; }));
    compare(start + tensor("1,3,4,1", dtype) + ")", sum([](auto, auto c, auto h, auto) { return c * 4 + h; }));
  }
}

TEST(Definitions, ChoicesThatStretch) {
  compare("ttnn.where(" + tensor("2,1,4,5") + ", " + tensor("2,3,4,5") + ", " + tensor("1,3,4,1") + ")",
          [](const Tensors& in) {
            std::vector<double> result;
            for (std::int64_t b = 0; b < 2; ++b)
              for (std::int64_t c = 0; c < 3; ++c)
                for (std::int64_t h = 0; h < 4; ++h)
                  for (std::int64_t w = 0; w < 5; ++w)
                    result.push_back(in[0].at(b * 20 + h * 5 + w) != 0 ? in[1].at(b * 60 + c * 20 + h * 5 + w)
                                                                       : in[2].at(c * 4 + h));
            return result;
          });
}

}  // namespace
}  // namespace opwright

#include <algorithm>
#include <cmath>

#include "ops/shared/activation.h"
#include "ops/shared/conv_call.h"
#include "ops/shared/conv_rules.h"
#include "ops/shared/matmul_exact.h"
#include "ops/shared/stored_values.h"

namespace opwright {
namespace {

// The weights by their names in the definition, y[o] = sum over c, i, j of w[o][c][i][j] x[c][i][j]: a table whose
// rows are (c, i, j) in this order and whose columns are the output channels. With groups c counts within one.
struct Filter {
  std::int64_t in = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t out = 0;
  std::vector<float> table;

  std::int64_t depth() const { return in * height * width; }
  std::size_t place(std::int64_t o, std::int64_t c, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(((c * height + i) * width + j) * out + o);
  }
};

// w[o][c][i][j] of weights in either form; 0 beyond their ends.
double weight_of(const ConvCall& conv, const HostTensor& weight, std::int64_t o, std::int64_t c, std::int64_t i,
                 std::int64_t j) {
  const Shape& shape = weight.spec.shape;
  if (conv.prepared) {
    const std::int64_t row = (i * conv.window.kernel_w + j) * conv.weight_channels + c;
    return o < shape[3] ? weight.at(row * shape[3] + o) : 0.0;
  }
  // A filter of one dimension has no height of its own.
  const std::int64_t height = shape.size() == 3 ? 1 : shape[2];
  const std::int64_t width = shape.back();
  if (o >= shape[0] || c >= shape[1] || i >= height || j >= width) return 0.0;
  return weight.at(o * (shape[1] * height * width) + c * (height * width) + i * width + j);
}

Filter filter_of(const ConvCall& conv, const HostTensor& weight) {
  Filter out{.height = conv.window.kernel_h, .width = conv.window.kernel_w, .out = conv.out_channels, .table = {}};
  // The library's own form has all channels, zeros between groups.
  out.in = conv.prepared ? std::min(conv.weight_channels, conv.in_channels) : conv.in_channels / conv.groups;
  out.table.assign(static_cast<std::size_t>(out.depth() * out.out), 0.0F);
  const std::size_t rank = weight.spec.shape.size();
  if ((rank != 3 && rank != 4) || weight.floats.empty()) return out;
  // The host converts before it hands over. Its rows are the output channels, zeros where they belong to other groups.
  const std::int64_t groups = conv.prepared ? 1 : conv.groups;
  const std::int64_t columns = out.out / groups;
  std::vector<double> row(static_cast<std::size_t>(out.out));
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t c = 0; c < out.in; ++c)
      for (std::int64_t i = 0; i < out.height; ++i)
        for (std::int64_t j = 0; j < out.width; ++j) {
          std::ranges::fill(row, 0.0);
          for (std::int64_t o = group * columns; o < (group + 1) * columns; ++o)
            row[static_cast<std::size_t>(o)] = weight_of(conv, weight, o, c, i, j);
          if (!conv.prepared) as_stored(row, conv.weight_dtype);
          for (std::int64_t o = group * columns; o < (group + 1) * columns; ++o)
            out.table[out.place(o, c, i, j)] = static_cast<float>(row[static_cast<std::size_t>(o)]);
        }
  return out;
}

// The image under the windows of the output pixels: x[c][i][j] of the definition, 0 in the padding.
class Patches {
 public:
  Patches(const ConvCall& conv, const HostTensor& image) : w_(conv.window), stride_(conv.pixel_stride), image_(image) {}

  // Where the window of an output pixel begins, padding included.
  struct Corner {
    std::int64_t batch = 0;
    std::int64_t y = 0;
    std::int64_t x = 0;
  };
  Corner corner(std::int64_t pixel) const {
    return {pixel / w_.out_width / w_.out_height, pixel / w_.out_width % w_.out_height * w_.stride_h - w_.top,
            pixel % w_.out_width * w_.stride_w - w_.left};
  }
  double at(const Corner& corner, std::int64_t channel, std::int64_t i, std::int64_t j) const {
    const std::int64_t y = corner.y + i * w_.dilation_h;
    const std::int64_t x = corner.x + j * w_.dilation_w;
    if (y < 0 || x < 0 || y >= w_.height || x >= w_.width) return 0.0;
    return image_.at(((corner.batch * w_.height + y) * w_.width + x) * stride_ + channel);
  }

 private:
  const Window& w_;
  std::int64_t stride_;
  const HostTensor& image_;
};

void dense(const Filter& filter, const Patches& patches, const Rows& rows, Exact& exact) {
  exact_product({
      .rows = rows.count(),
      .k = filter.depth(),
      .n = filter.out,
      .left =
          [&](std::int64_t row, std::int64_t first, std::int64_t count, double* out) {
            const Patches::Corner corner = patches.corner(rows.at(row));
            std::int64_t j = first % filter.width;
            std::int64_t i = first / filter.width % filter.height;
            std::int64_t c = first / filter.width / filter.height;
            for (std::int64_t k = 0; k < count; ++k) {
              out[k] = patches.at(corner, c, i, j);
              if (++j < filter.width) continue;
              j = 0;
              if (++i < filter.height) continue;
              i = 0;
              ++c;
            }
          },
      .right = [&](std::int64_t row, std::int64_t first, std::int64_t count,
                   double* out) { std::copy_n(filter.table.data() + row * filter.out + first, count, out); },
      .value = exact.value.data(),
      .magnitude = exact.magnitude.data(),
      .stride = rows.length,
  });
}

// Output channel o sees the channels of its group only.
void grouped(const Filter& filter, std::int64_t groups, const Patches& patches, const Rows& rows, Exact& exact) {
  const std::int64_t out_of_group = filter.out / groups;
  std::vector<double> seen(static_cast<std::size_t>(groups * filter.in));
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const Patches::Corner corner = patches.corner(rows.at(r));
    for (std::int64_t i = 0; i < filter.height; ++i)
      for (std::int64_t j = 0; j < filter.width; ++j) {
        for (std::size_t c = 0; c < seen.size(); ++c) seen[c] = patches.at(corner, static_cast<std::int64_t>(c), i, j);
        for (std::int64_t o = 0; o < out_of_group * groups; ++o)
          for (std::int64_t c = 0; c < filter.in; ++c) {
            const double x = seen[static_cast<std::size_t>(o / out_of_group * filter.in + c)];
            const double product = x * static_cast<double>(filter.table[filter.place(o, c, i, j)]);
            exact.value[static_cast<std::size_t>(r * rows.length + o)] += product;
            exact.magnitude[static_cast<std::size_t>(r * rows.length + o)] += std::fabs(product);
          }
      }
  }
}

std::vector<double> bias_of(const ConvCall& conv, const HostTensor* bias) {
  if (bias == nullptr) return {};
  std::vector<double> out(bias->floats.begin(), bias->floats.end());
  out.resize(static_cast<std::size_t>(conv.out_channels));
  if (!conv.prepared) as_stored(out, conv.weight_dtype);
  return out;
}

}  // namespace

Checked<Exact> conv_reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const ConvCall conv, conv_call(job.call));
  const HostTensor* input = job.input("input_tensor");
  const HostTensor* weight = job.input("weight_tensor");
  if (input == nullptr || weight == nullptr) return refuse("a convolution needs an image and weights");
  const Filter filter = filter_of(conv, *weight);
  const Patches patches(conv, *input);
  const Rows& rows = job.rows;
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(rows.count() * rows.length), 0.0);
  exact.magnitude = exact.value;
  if (conv.groups > 1 && !conv.prepared)
    grouped(filter, conv.groups, patches, rows, exact);
  else
    dense(filter, patches, rows, exact);
  const std::vector<double> bias = bias_of(conv, job.input("bias_tensor"));
  OPWRIGHT_CHECK_ASSIGN(auto functions, exact_activations(&conv.config.activation, "conv_config"));
  for (std::int64_t r = 0; r < rows.count(); ++r)
    for (std::int64_t c = 0; c < rows.length; ++c) {
      const auto at = static_cast<std::size_t>(r * rows.length + c);
      if (!bias.empty()) {
        exact.value[at] += bias[static_cast<std::size_t>(c)];
        exact.magnitude[at] += std::fabs(bias[static_cast<std::size_t>(c)]);
      }
    }
  apply_after(std::move(functions), exact);
  return exact;
}

}  // namespace opwright

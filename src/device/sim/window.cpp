#include "device/sim/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace opwright::sim {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;

// The values of an argument for rows and columns: one number for both, or a list.
Checked<Shape> per_axis(const BoundCall& call, std::string_view param, std::int64_t otherwise) {
  OPWRIGHT_CHECK_ASSIGN(const auto given, call.ints(param));
  Shape values = given.value_or(Shape{otherwise, otherwise});
  if (values.size() == 1) values.push_back(values.front());
  const bool sound = std::ranges::all_of(values, [&](std::int64_t n) { return n >= otherwise && n < kMost; });
  if (values.size() < 2 || !sound) return unsupported(std::string(param), "windows of this form");
  return values;
}

Checked<void> count_windows(Axis& axis, bool partial) {
  // Beginnings lie `stride` apart, from `before` ahead of the image up to where the last tap meets the padding's end.
  const std::int64_t last = axis.size + axis.after - (axis.taps - 1) * axis.dilation - 1;
  if (last < -axis.before) return unsupported("kernel_size", "a window larger than the image");
  const std::int64_t steps = (last + axis.before) / axis.stride;
  axis.windows = steps + 1;
  const bool rest = steps * axis.stride - axis.before < last;
  if (partial && rest && axis.windows * axis.stride - axis.before < axis.size) ++axis.windows;
  return {};
}

}  // namespace

Axis::Inside Axis::inside(std::int64_t window) const {
  const std::int64_t begin = window * stride - before;
  Inside out;
  if (begin < 0) out.first = (-begin + dilation - 1) / dilation;
  out.at = begin + out.first * dilation;
  out.last = std::min(taps, out.first + std::max<std::int64_t>(0, (size - out.at + dilation - 1) / dilation));
  return out;
}

Checked<Windows> windows_of(const BoundCall& call, std::string_view height, std::string_view width, bool partial) {
  Windows out;
  OPWRIGHT_CHECK_ASSIGN(out.images, call.integer("batch_size", 1));
  OPWRIGHT_CHECK_ASSIGN(out.rows.size, call.integer(height, 0));
  OPWRIGHT_CHECK_ASSIGN(out.columns.size, call.integer(width, 0));
  OPWRIGHT_CHECK_ASSIGN(const Shape taps, per_axis(call, "kernel_size", 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape stride, per_axis(call, "stride", 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape padding, per_axis(call, "padding", 0));
  OPWRIGHT_CHECK_ASSIGN(const Shape dilation, per_axis(call, "dilation", 1));
  // Two paddings are those of rows and columns, four are those above, below, on the left and on the right.
  const std::size_t sides = padding.size() / 2;
  for (std::size_t i = 0; i < 2; ++i) {
    Axis& axis = i == 0 ? out.rows : out.columns;
    axis.taps = taps[i];
    axis.stride = stride[i];
    axis.dilation = dilation[i];
    axis.before = padding[i * sides];
    axis.after = padding[i * sides + sides - 1];
    if (axis.size < 1 || axis.size >= kMost || out.images < 1 || out.images >= kMost)
      return unsupported(std::string(i == 0 ? height : width), "an image of this size");
    OPWRIGHT_CHECK(count_windows(axis, partial));
  }
  return out;
}

}  // namespace opwright::sim

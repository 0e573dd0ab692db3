#include "ops/shared/window.h"

#include <fmt/format.h>

#include "dialect/ttnn/tensor_layout.h"

namespace opwright {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // of any size, so that products stay within 64 bits

Checked<Shape> pair_of(const BoundCall& call, std::string_view param, Shape otherwise, std::int64_t lowest,
                       bool four = false) {
  OPWRIGHT_CHECK_ASSIGN(const auto read, call.ints(param));
  if (!read) return otherwise;
  Shape out = *read;
  if (out.size() == 1 && call.find(param)->as_list() == nullptr) out.push_back(out[0]);
  if (out.size() != 2 && !(four && out.size() == 4)) return type_error(call.op, param, *call.find(param));
  for (const std::int64_t n : out)
    if (n < lowest || n >= kLargest)
      return refuse(lowest == 0 ? fmt::format("{} must not be negative, got ({})", param, n)
                                : fmt::format("{} must be greater than 0, got ({}, {})", param, out[0], out[1]),
                    std::string(param));
  return out;
}

Checked<std::int64_t> windows(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                              std::int64_t after, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t room = size + before + after - span;
  if (room < 0)
    return refuse(fmt::format("a window of {} does not fit into {} with padding {} and {}", span, size, before, after),
                  "kernel_size");
  std::int64_t out = room / stride + 1;
  // The last window may begin inside the image and end outside of it.
  if (ceil_mode && room % stride != 0 && out * stride < size + before) ++out;
  return out;
}

}  // namespace

Checked<std::int64_t> size_argument(const BoundCall& call, std::string_view param, std::int64_t lowest) {
  OPWRIGHT_CHECK_ASSIGN(const auto read, call.integer(param));
  if (!read)
    return refuse(fmt::format("{}(): incompatible function arguments: {} is missing", call.op, param),
                  std::string(param));
  if (*read < lowest || *read >= kLargest)
    return refuse(fmt::format("{} must be at least {}, got {}", param, lowest, *read), std::string(param));
  return *read;
}

bool bounded(std::initializer_list<std::int64_t> sizes) {
  std::int64_t product = 1;
  for (const std::int64_t n : sizes)
    if (__builtin_mul_overflow(product, n, &product) || product > kMostElements) return false;
  return true;
}

Checked<Window> window_of(const BoundCall& call, std::string_view height, std::string_view width, bool ceil_mode) {
  Window w;
  OPWRIGHT_CHECK_ASSIGN(w.batch, size_argument(call, "batch_size", 1));
  OPWRIGHT_CHECK_ASSIGN(w.height, size_argument(call, height, 1));
  OPWRIGHT_CHECK_ASSIGN(w.width, size_argument(call, width, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape kernel, pair_of(call, "kernel_size", {1, 1}, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape stride, pair_of(call, "stride", {1, 1}, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape padding, pair_of(call, "padding", {0, 0}, 0, true));
  OPWRIGHT_CHECK_ASSIGN(const Shape dilation, pair_of(call, "dilation", {1, 1}, 1));
  w.kernel_h = kernel[0];
  w.kernel_w = kernel[1];
  w.stride_h = stride[0];
  w.stride_w = stride[1];
  const bool four = padding.size() == 4;
  w.top = padding[0];
  w.bottom = padding[four ? 1 : 0];
  w.left = padding[four ? 2 : 1];
  w.right = padding[four ? 3 : 1];
  w.dilation_h = dilation[0];
  w.dilation_w = dilation[1];
  OPWRIGHT_CHECK_ASSIGN(w.out_height,
                        windows(w.height, w.kernel_h, w.stride_h, w.top, w.bottom, w.dilation_h, ceil_mode));
  OPWRIGHT_CHECK_ASSIGN(w.out_width,
                        windows(w.width, w.kernel_w, w.stride_w, w.left, w.right, w.dilation_w, ceil_mode));
  if (!bounded({w.batch, w.height, w.width}) || !bounded({w.batch, w.out_height, w.out_width}) ||
      !bounded({w.kernel_h, w.kernel_w}))
    return refuse(fmt::format("{} images of {}x{} under windows of {}x{} are larger than any memory", w.batch, w.height,
                              w.width, w.kernel_h, w.kernel_w),
                  std::string(height));
  return w;
}

}  // namespace opwright

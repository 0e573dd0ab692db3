#include "device/sim/movement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

// Elements that one part of a loop copies: large enough to be worth a thread, small enough to share.
constexpr std::int64_t kGrain = 1 << 16;
// Side of the squares in which two dimensions swap their order: both sides stay in the first-level cache.
constexpr std::int64_t kSquare = 32;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Dimensions that lie behind one another in both tensors are one; those of one element are none.
Window merged(const Window& window) {
  Window out;
  out.from = window.from;
  out.to = window.to;
  for (std::size_t i = 0; i < window.shape.size(); ++i) {
    const std::int64_t n = window.shape[i];
    if (n == 1) continue;
    if (!out.shape.empty() && out.from_strides.back() == n * window.from_strides[i] &&
        out.to_strides.back() == n * window.to_strides[i]) {
      out.shape.back() *= n;
      out.from_strides.back() = window.from_strides[i];
      out.to_strides.back() = window.to_strides[i];
      continue;
    }
    out.shape.push_back(n);
    out.from_strides.push_back(window.from_strides[i]);
    out.to_strides.push_back(window.to_strides[i]);
  }
  if (out.shape.empty()) {
    out.shape = {1};
    out.from_strides = {1};
    out.to_strides = {1};
  }
  return out;
}

void drop(Window& window, std::size_t dim) {
  const auto i = static_cast<std::ptrdiff_t>(dim);
  window.shape.erase(window.shape.begin() + i);
  window.from_strides.erase(window.from_strides.begin() + i);
  window.to_strides.erase(window.to_strides.begin() + i);
}

// Calls f(from, to, n) for each element of the window, the n-th one, on all threads; `cost` elements stand behind one.
template <class F>
void each_start(const Window& window, std::int64_t cost, F&& f) {
  std::int64_t count = 1;
  for (const std::int64_t n : window.shape) count *= n;
  parallel_for(0, count, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, cost)),
               [&](std::int64_t first, std::int64_t last) {
                 Shape index(window.shape.size(), 0);
                 std::int64_t rest = first;
                 std::int64_t from = window.from;
                 std::int64_t to = window.to;
                 for (std::size_t i = window.shape.size(); i-- > 0;) {
                   index[i] = rest % window.shape[i];
                   rest /= window.shape[i];
                   from += index[i] * window.from_strides[i];
                   to += index[i] * window.to_strides[i];
                 }
                 for (std::int64_t n = first; n < last; ++n) {
                   f(from, to, n);
                   for (std::size_t i = window.shape.size(); i-- > 0;) {
                     from += window.from_strides[i];
                     to += window.to_strides[i];
                     if (++index[i] < window.shape[i]) break;
                     from -= window.shape[i] * window.from_strides[i];
                     to -= window.shape[i] * window.to_strides[i];
                     index[i] = 0;
                   }
                 }
               });
}

template <class T>
void copy_typed(const std::vector<T>& input, const Window& asked, std::vector<T>& output) {
  for (const std::int64_t n : asked.shape)
    if (n == 0) return;
  Window outer = merged(asked);
  const std::size_t inner = outer.shape.size() - 1;
  const std::int64_t length = outer.shape[inner];
  const std::int64_t from_step = outer.from_strides[inner];
  const std::int64_t to_step = outer.to_strides[inner];
  const auto near = std::ranges::find(outer.from_strides, 1);
  const auto across = static_cast<std::size_t>(near - outer.from_strides.begin());
  drop(outer, inner);
  if (from_step == 1 && to_step == 1) {
    each_start(outer, length, [&](std::int64_t from, std::int64_t to, std::int64_t) {
      std::copy_n(input.data() + from, at(length), output.data() + to);
    });
    return;
  }
  if (across >= inner) {
    each_start(outer, length, [&](std::int64_t from, std::int64_t to, std::int64_t) {
      for (std::int64_t i = 0; i < length; ++i) output[at(to + i * to_step)] = input[at(from + i * from_step)];
    });
    return;
  }
  // Two dimensions change places: squares, so that neither side runs through memory with long strides. The dimension
  // across becomes one of blocks.
  const std::int64_t rows = outer.shape[across];
  const std::int64_t row_step = outer.to_strides[across];
  Window blocks = outer;
  drop(blocks, across);
  const std::int64_t strips = div_up(rows, kSquare);
  blocks.shape.push_back(strips);
  blocks.from_strides.push_back(kSquare);
  blocks.to_strides.push_back(kSquare * row_step);
  each_start(blocks, length * kSquare, [&](std::int64_t from, std::int64_t to, std::int64_t n) {
    const std::int64_t strip = n % strips;
    const std::int64_t height = std::min(kSquare, rows - strip * kSquare);
    for (std::int64_t left = 0; left < length; left += kSquare) {
      const std::int64_t right = std::min(length, left + kSquare);
      for (std::int64_t r = 0; r < height; ++r)
        for (std::int64_t c = left; c < right; ++c)
          output[at(to + r * row_step + c * to_step)] = input[at(from + r + c * from_step)];
    }
  });
}

std::int64_t wrapped(double value, DType dtype) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::trunc(value), -9.0e18, 9.0e18));
  switch (dtype) {
    case DType::kInt32:
      return static_cast<std::int32_t>(whole);
    case DType::kUint32:
      return static_cast<std::uint32_t>(whole);
    case DType::kUint16:
      return static_cast<std::uint16_t>(whole);
    default:
      return static_cast<std::uint8_t>(whole);
  }
}

// A float becomes an integer: 32-bit ones cut the fraction and saturate (a register holds sign and magnitude), 16-bit
// ones round, 8-bit ones keep the low bits.
std::int64_t to_integer(float value, DType dtype) {
  if (std::isnan(value)) return 0;
  switch (dtype) {
    case DType::kInt32:
      return static_cast<std::int64_t>(std::clamp(std::trunc(static_cast<double>(value)), -2147483647.0, 2147483647.0));
    case DType::kUint32:
      return static_cast<std::int64_t>(std::clamp(std::trunc(static_cast<double>(value)), 0.0, 4294967295.0));
    case DType::kUint16:
      return static_cast<std::int64_t>(std::clamp(std::nearbyint(static_cast<double>(value)), 0.0, 65535.0));
    default:
      return wrapped(static_cast<double>(value), dtype);
  }
}

// Float dtypes of 32 bits pass the register whole; the conversion to bfloat16 rounds to nearest even before the pack.
void convert_floats(std::span<float> values, std::int64_t row, DType from, DType to) {
  if (to == DType::kFloat32) return;
  const bool wide = from == DType::kFloat32 || is_integer(from);
  if (to == DType::kBfloat16) {
    if (wide) round_to_dst(values, Dst::kBf16);
    pack(values, row, to, Dst::kBf16);
    return;
  }
  pack(values, row, to, wide ? Dst::kFp32 : Dst::kBf16, true);
}

}  // namespace

HostTensor same_order(const HostTensor& input, const OutputSpec& output) {
  return HostTensor{output.spec, input.floats, input.ints};
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void copy_window(const HostTensor& input, const Window& window, HostTensor& output) {
  if (input.integer())
    copy_typed(input.ints, window, output.ints);
  else
    copy_typed(input.floats, window, output.floats);
}

void fill(HostTensor& output, double value) {
  if (output.integer()) {
    std::ranges::fill(output.ints, wrapped(std::isnan(value) ? 0 : value, output.spec.dtype.value));
    return;
  }
  float held = static_cast<float>(
      std::clamp(value, -double{std::numeric_limits<float>::max()}, double{std::numeric_limits<float>::max()}));
  if (std::isinf(value) || std::isnan(value)) held = static_cast<float>(value);
  if (output.spec.dtype.value != DType::kFloat32) held = round_to_dst(held, Dst::kBf16);
  std::ranges::fill(output.floats, held);
}

void repack(HostTensor& output) {
  if (!is_block_float(output.spec.dtype.value)) return;
  const std::int64_t row = row_length(output.spec.shape);
  if (row == 0) return;
  parallel_for(0, output.size() / row, std::max<std::int64_t>(1, kGrain / row),
               [&](std::int64_t first, std::int64_t last) {
                 pack(std::span(output.floats).subspan(at(first * row), at((last - first) * row)), row,
                      output.spec.dtype.value, Dst::kBf16);
               });
}

HostTensor convert(const HostTensor& input, const OutputSpec& output) {
  const DType from = input.spec.dtype.value;
  const DType to = output.spec.dtype.value;
  if (from == to) return same_order(input, output);
  HostTensor out = unwritten(output);
  const std::int64_t row = std::max<std::int64_t>(1, row_length(out.spec.shape));
  parallel_for(
      0, out.size() / row, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first * row; i < last * row; ++i) {
          if (out.integer() && input.integer())
            out.ints[at(i)] = wrapped(static_cast<double>(input.ints[at(i)]), to);
          else if (out.integer())
            out.ints[at(i)] = to_integer(input.floats[at(i)], to);
          else
            out.floats[at(i)] = input.integer() ? static_cast<float>(input.ints[at(i)]) : input.floats[at(i)];
        }
        if (!out.integer())
          convert_floats(std::span(out.floats).subspan(at(first * row), at((last - first) * row)), row, from, to);
      });
  return out;
}

Checked<std::vector<HostTensor>> move_whole(const KernelJob& job, std::string_view param) {
  const HostTensor& input = *job.input(param);
  const OutputSpec& output = job.outputs[0];
  HostTensor out = convert(input, output);
  const bool regrouped = row_length(input.spec.shape) != row_length(output.spec.shape);
  if (regrouped && input.spec.dtype == output.spec.dtype) repack(out);
  return std::vector{std::move(out)};
}

Checked<std::vector<HostTensor>> turn(const KernelJob& job, const std::vector<std::size_t>& order) {
  const HostTensor& input = *job.input("input_tensor");
  HostTensor out = unwritten(job.outputs[0]);
  const Shape own = row_major_strides(input.spec.shape);
  Window window{.shape = out.spec.shape, .to_strides = row_major_strides(out.spec.shape)};
  for (const std::size_t dim : order) window.from_strides.push_back(own[dim]);
  copy_window(input, window, out);
  if (!order.empty() && order.back() + 1 != order.size()) repack(out);
  return std::vector{std::move(out)};
}

}  // namespace opwright::sim

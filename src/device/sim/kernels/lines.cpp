// Kernels that work along the lines of one dimension, a row each.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/kernels/families.h"
#include "device/sim/movement.h"
#include "device/sim/pack.h"

namespace opwright::sim {
namespace {

using Made = Checked<std::vector<HostTensor>>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A tensor as lines: how many, how long, and how far apart the elements of one are.
struct Lines {
  Lines(const Shape& shape, std::int64_t dim) {
    if (dim < 0) dim += static_cast<std::int64_t>(shape.size());
    for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(dim, 0)) + 1; i < shape.size(); ++i) step *= shape[i];
    length = shape.empty() ? 1 : shape[at(std::max<std::int64_t>(dim, 0))];
    count = length == 0 ? 0 : volume(shape) / length;
  }
  std::int64_t begin(std::int64_t line) const { return line / step * step * length + line % step; }
  std::int64_t count = 0, length = 1, step = 1;
};

// One value after the other goes through the destination register.
template <bool kProduct>
Made scan(const KernelJob& job) {
  const HostTensor& input = job.inputs[0];
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const bool reverse, job.call.flag("reverse_order", false));
  HostTensor out = unwritten(job.outputs[0]);
  const Lines lines(input.spec.shape, dim);
  const bool narrow = input.spec.dtype.value == DType::kInt32;
  parallel_for(0, lines.count, 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      std::int64_t place = lines.begin(line) + (reverse ? (lines.length - 1) * lines.step : 0);
      float held = kProduct ? 1.0F : 0.0F;
      std::uint32_t whole = kProduct ? 1 : 0;
      for (std::int64_t k = 0; k < lines.length; ++k, place += reverse ? -lines.step : lines.step) {
        if (input.integer()) {
          const auto next = static_cast<std::uint32_t>(input.ints[at(place)]);
          whole = kProduct ? whole * next : whole + next;
          out.ints[at(place)] = narrow ? static_cast<std::int32_t>(whole) : static_cast<std::int64_t>(whole);
        } else {
          held = kProduct ? held * input.floats[at(place)] : held + input.floats[at(place)];
          out.floats[at(place)] = held;
        }
      }
    }
  });
  if (!out.integer()) pack(out.floats, row_length(out.spec.shape), out.spec.dtype.value, Dst::kFp32);
  return std::vector{std::move(out)};
}

template <class T>
void sort_line(const std::vector<T>& from, std::int64_t begin, const Lines& lines, bool descending,
               std::vector<std::int64_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    const T x = from[at(begin + a * lines.step)], y = from[at(begin + b * lines.step)];
    return x == y ? a < b : descending ? y < x : x < y;
  });
}

Made sort(const KernelJob& job) {
  const HostTensor& input = job.inputs[0];
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", -1));
  OPWRIGHT_CHECK_ASSIGN(const bool descending, job.call.flag("descending", false));
  HostTensor values = unwritten(job.outputs[0]);
  HostTensor places = unwritten(job.outputs[1]);
  const Lines lines(input.spec.shape, dim);
  parallel_for(0, lines.count, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> order(at(lines.length));
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t begin = lines.begin(line);
      if (input.integer())
        sort_line(input.ints, begin, lines, descending, order);
      else
        sort_line(input.floats, begin, lines, descending, order);
      for (std::int64_t k = 0; k < lines.length; ++k) {
        const std::int64_t to = begin + k * lines.step, from = begin + order[at(k)] * lines.step;
        if (input.integer())
          values.ints[at(to)] = input.ints[at(from)];
        else
          values.floats[at(to)] = input.floats[at(from)];
        places.ints[at(to)] = order[at(k)];
      }
    }
  });
  repack(values);
  return std::vector{std::move(values), std::move(places)};
}

// The place in a tensor of shape `large` at which an element of one of shape `small` stands, but for dimension `dim`,
// where it stands at `along`.
std::int64_t place_in(const Shape& large, const Shape& small, std::int64_t element, std::size_t dim,
                      std::int64_t along) {
  std::int64_t out = 0, stride = 1;
  for (std::size_t i = small.size(); i-- > 0;) {
    out += (i == dim ? along : element % small[i]) * stride;
    element /= small[i];
    stride *= large[i];
  }
  return out;
}

std::size_t dim_of(std::int64_t dim, const Shape& shape) {
  return at(dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim);
}

bool within(std::int64_t index, const Shape& shape, std::size_t dim) { return index >= 0 && index < shape[dim]; }

Made outside() { return refuse("an index lies outside the dimension", "index"); }

Made gather(const KernelJob& job) {
  const HostTensor& input = *job.input("input");
  const HostTensor& index = *job.input("index");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t asked, job.call.integer("dim", 0));
  const std::size_t dim = dim_of(asked, input.spec.shape);
  HostTensor out = unwritten(job.outputs[0]);
  for (std::int64_t i = 0; i < index.size(); ++i) {
    if (!within(index.ints[at(i)], input.spec.shape, dim)) return outside();
    const std::int64_t from = place_in(input.spec.shape, index.spec.shape, i, dim, index.ints[at(i)]);
    if (input.integer())
      out.ints[at(i)] = input.ints[at(from)];
    else
      out.floats[at(i)] = input.floats[at(from)];
  }
  repack(out);
  return std::vector{std::move(out)};
}

Made scatter(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::string reduce, job.call.text("reduce", ""));
  const bool adds = job.call.op == "ttnn.scatter_add" || reduce == "add";
  const HostTensor& index = *job.input("index");
  const HostTensor& source = *job.input("src");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t asked, job.call.integer("dim", 0));
  HostTensor out = same_order(*job.input("input"), job.outputs[0]);
  const Shape& shape = out.spec.shape;
  const std::size_t dim = dim_of(asked, shape);
  for (std::int64_t i = 0; i < index.size(); ++i) {
    if (!within(index.ints[at(i)], shape, dim)) return outside();
    const std::int64_t to = place_in(shape, index.spec.shape, i, dim, index.ints[at(i)]);
    std::int64_t along = i;
    for (std::size_t d = index.spec.shape.size(); d-- > dim + 1;) along /= index.spec.shape[d];
    const std::int64_t from = place_in(source.spec.shape, index.spec.shape, i, dim, along % index.spec.shape[dim]);
    if (out.integer())
      out.ints[at(to)] = adds ? out.ints[at(to)] + source.ints[at(from)] : source.ints[at(from)];
    else
      out.floats[at(to)] = adds ? out.floats[at(to)] + source.floats[at(from)] : source.floats[at(from)];
  }
  if (adds && !out.integer()) pack(out.floats, row_length(shape), out.spec.dtype.value, Dst::kFp32);
  repack(out);
  return std::vector{std::move(out)};
}

Made index_fill(const KernelJob& job) {
  const HostTensor& index = *job.input("index");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const double value, job.call.number("value", 0));
  HostTensor out = same_order(*job.input("input"), job.outputs[0]);
  HostTensor one{out.spec, {}, {}};
  one.spec.shape = {1};
  (out.integer() ? one.ints.resize(1) : one.floats.resize(1));
  fill(one, value);
  const Lines lines(out.spec.shape, dim);
  for (const std::int64_t place : index.ints)
    for (std::int64_t line = 0; place >= 0 && place < lines.length && line < lines.count; ++line) {
      const std::size_t to = at(lines.begin(line) + place * lines.step);
      if (out.integer())
        out.ints[to] = one.ints[0];
      else
        out.floats[to] = one.floats[0];
    }
  repack(out);
  return std::vector{std::move(out)};
}

}  // namespace

std::span<const Kernel> line_kernels() {
  static constexpr std::array kRows{
      Kernel{.op = "ttnn.cumprod", .run = scan<true>}, Kernel{.op = "ttnn.cumsum", .run = scan<false>},
      Kernel{.op = "ttnn.gather", .run = gather},      Kernel{.op = "ttnn.index_fill", .run = index_fill},
      Kernel{.op = "ttnn.scatter", .run = scatter},    Kernel{.op = "ttnn.scatter_add", .run = scatter},
      Kernel{.op = "ttnn.sort", .run = sort},
  };
  return kRows;
}

}  // namespace opwright::sim

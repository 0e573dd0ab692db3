// Kernels that only put elements in other places, a row each. They walk over the result and know where the next element
// lies; what was together in one exponent and no longer is shares it anew.
#include <algorithm>
#include <array>

#include "device/sim/kernels/families.h"
#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A tensor as outer x size x inner around one dimension.
struct Cut {
  std::int64_t outer = 1, size = 1, inner = 1;
};
Cut cut_at(const Shape& shape, std::int64_t dim) {
  if (dim < 0) dim += static_cast<std::int64_t>(shape.size());
  Cut out;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (static_cast<std::int64_t>(i) < dim    ? out.outer
     : static_cast<std::int64_t>(i) == dim ? out.size
                                           : out.inner) *= shape[i];
  return out;
}

template <class T>
void copy_run(const std::vector<T>& from, std::int64_t source, std::int64_t count, std::vector<T>& to,
              std::int64_t target) {
  if (!from.empty()) std::copy_n(from.begin() + source, count, to.begin() + target);
}
void copy_run(const HostTensor& from, std::int64_t source, std::int64_t count, HostTensor& to, std::int64_t target) {
  copy_run(from.floats, source, count, to.floats, target);
  copy_run(from.ints, source, count, to.ints, target);
}

// Slices of one dimension of the result, each a slice of the input: `source` says which.
template <class Source>
void slices(const HostTensor& input, std::int64_t dim, HostTensor& out, const Source& source) {
  const Cut from = cut_at(input.spec.shape, dim), to = cut_at(out.spec.shape, dim);
  for (std::int64_t o = 0; o < to.outer; ++o)
    for (std::int64_t i = 0; i < to.size; ++i)
      copy_run(input, (o * from.size + source(i)) * from.inner, from.inner, out, (o * to.size + i) * to.inner);
}

using Made = Checked<std::vector<HostTensor>>;

Made one(HostTensor out) {
  repack(out);
  return std::vector{std::move(out)};
}

Made roll(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto shifts, job.call.ints("shifts"));
  OPWRIGHT_CHECK_ASSIGN(const auto dims, job.call.ints("dim"));
  HostTensor now = job.inputs[0];
  now.spec = job.outputs[0].spec;
  const std::size_t turns = shifts ? shifts->size() : 0;
  for (std::size_t i = 0; i < turns; ++i) {
    HostTensor next = now;
    if (!dims) next.spec.shape = now.spec.shape = {now.size()};
    const std::int64_t dim = dims ? (*dims)[i] : 0;
    const std::int64_t size = cut_at(now.spec.shape, dim).size;
    const std::int64_t by = size == 0 ? 0 : ((*shifts)[i] % size + size) % size;
    slices(now, dim, next, [&](std::int64_t k) { return k >= by ? k - by : k - by + size; });
    now = std::move(next);
  }
  now.spec = job.outputs[0].spec;
  return one(std::move(now));
}

Made repeat_interleave(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t repeats, job.call.integer("repeats", 1));
  HostTensor out = unwritten(job.outputs[0]);
  slices(job.inputs[0], dim, out, [&](std::int64_t k) { return k / repeats; });
  return one(std::move(out));
}

Made parts(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", 0));
  std::vector<HostTensor> all;
  std::int64_t begin = 0;
  for (const OutputSpec& output : job.outputs) {
    HostTensor out = unwritten(output);
    slices(job.inputs[0], dim, out, [&](std::int64_t k) { return begin + k; });
    begin += cut_at(out.spec.shape, dim).size;
    repack(out);
    all.push_back(std::move(out));
  }
  return all;
}

// Dimensions of one element have no step: a window over the result reads the same one again.
Made expand(const KernelJob& job) {
  HostTensor out = unwritten(job.outputs[0]);
  Shape from = job.inputs[0].spec.shape;
  from.insert(from.begin(), out.spec.shape.size() - from.size(), 1);
  Window window{.shape = out.spec.shape,
                .from_strides = row_major_strides(from),
                .to_strides = row_major_strides(out.spec.shape)};
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == 1) window.from_strides[i] = 0;
  copy_window(job.inputs[0], window, out);
  return one(std::move(out));
}

Made stack(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, job.call.integer("dim", 0));
  HostTensor out = unwritten(job.outputs[0]);
  const Cut to = cut_at(out.spec.shape, dim);
  for (std::int64_t o = 0; o < to.outer; ++o)
    for (std::int64_t i = 0; i < to.size; ++i)
      copy_run(job.inputs[at(i)], o * to.inner, to.inner, out, (o * to.size + i) * to.inner);
  return one(std::move(out));
}

template <class T>
void clear_triangle(std::vector<T>& values, std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                    bool upper) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
    const std::int64_t row = i / columns % rows, column = i % columns;
    if (upper ? column > row + diagonal : column < row + diagonal) values[at(i)] = 0;
  }
}
template <bool kClearsUpper>
Made triangle(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t diagonal, job.call.integer("diagonal", 0));
  HostTensor out = same_order(job.inputs[0], job.outputs[0]);
  const Shape& shape = out.spec.shape;
  clear_triangle(out.floats, shape[shape.size() - 2], shape.back(), diagonal, kClearsUpper);
  clear_triangle(out.ints, shape[shape.size() - 2], shape.back(), diagonal, kClearsUpper);
  return one(std::move(out));
}

// The last two dimensions change places.
Made to_chw(const KernelJob& job) {
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& from = job.inputs[0].spec.shape;
  copy_window(job.inputs[0], {.shape = {from[3], from[2]}, .from_strides = {1, from[3]}, .to_strides = {from[2], 1}},
              out);
  return one(std::move(out));
}

Made as_it_is(const KernelJob& job) { return move_whole(job, job.call.tensors[0].param); }

}  // namespace

std::span<const Kernel> placing_kernels() {
  static constexpr std::array kRows{
      Kernel{.op = "ttnn.chunk", .run = parts},
      Kernel{.op = "ttnn.expand", .run = expand},
      Kernel{.op = "ttnn.experimental.broadcast_to", .run = expand},
      Kernel{.op = "ttnn.experimental.convert_to_chw", .run = to_chw},
      Kernel{.op = "ttnn.experimental.view", .run = as_it_is},
      Kernel{.op = "ttnn.move", .run = as_it_is},
      Kernel{.op = "ttnn.reallocate", .run = as_it_is},
      Kernel{.op = "ttnn.repeat_interleave", .run = repeat_interleave},
      Kernel{.op = "ttnn.roll", .run = roll},
      Kernel{.op = "ttnn.split", .run = parts},
      Kernel{.op = "ttnn.stack", .run = stack},
      Kernel{.op = "ttnn.tril", .run = triangle<true>},
      Kernel{.op = "ttnn.triu", .run = triangle<false>},
      Kernel{.op = "ttnn.view", .run = as_it_is},
  };
  return kRows;
}

}  // namespace opwright::sim

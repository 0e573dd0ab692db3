// Exchanges between the chips of a mesh, for the first of them: the parts of all lie in the first tensor, one after the
// other (dialect/ttnn/collective_calls.h).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "device/sim/fpu_binary.h"
#include "device/sim/kernels/families.h"
#include "device/sim/pack.h"
#include "dialect/ttnn/collective_calls.h"

namespace opwright::sim {
namespace {

// A tensor as rows of blocks: what lies before the dimension that is cut or joined, and what it takes with what is
// behind it.
struct Blocks {
  std::size_t rows = 1, length = 1;
};
Blocks blocks_of(const Shape& shape, const Shape& other) {
  Blocks out;
  std::size_t d = 0;
  for (; d < shape.size() && d < other.size() && shape[d] == other[d]; ++d)
    out.rows *= static_cast<std::size_t>(shape[d]);
  for (; d < shape.size(); ++d) out.length *= static_cast<std::size_t>(shape[d]);
  return out;
}

template <class T>
void join(const std::vector<T>& parts, std::size_t chips, const Blocks& part, bool reversed, std::vector<T>& out) {
  auto to = out.begin();
  for (std::size_t row = 0; row < part.rows; ++row)
    for (std::size_t i = 0; i < chips; ++i) {
      const std::size_t chip = reversed ? chips - 1 - i : i;
      const auto from = parts.begin() + static_cast<std::ptrdiff_t>((chip * part.rows + row) * part.length);
      to = std::copy_n(from, part.length, to);
    }
}

// The first slice of one part.
template <class T>
void cut(const std::vector<T>& parts, std::size_t begin, const Blocks& whole, const Blocks& slice,
         std::vector<T>& out) {
  auto to = out.begin();
  for (std::size_t row = 0; row < whole.rows; ++row)
    to = std::copy_n(parts.begin() + static_cast<std::ptrdiff_t>(begin + row * whole.length), slice.length, to);
}

// The sum on its way around the ring, from the neighbour to this chip: memory of each holds it in between.
void add_part(const HostTensor& part, HostTensor& sum) {
  for (std::size_t i = 0; i < sum.ints.size(); ++i) sum.ints[i] += part.ints[i];
  if (sum.floats.empty()) return;
  const DType dtype = sum.spec.dtype.value;
  const Dst dst = dst_of(dtype == DType::kFloat32);
  binary(Binary::kAdd, engine_of(Binary::kAdd, dtype, dtype), dst, sum.floats, part.floats, sum.floats);
  pack(sum.floats, row_length(sum.spec.shape), dtype, dst);
}

Checked<std::vector<HostTensor>> run(const KernelJob& job) {
  const CollectiveCall what = collective_call(job.call.op);
  const HostTensor& held = job.inputs[0];
  const auto elements = static_cast<std::size_t>(held.size());
  const std::size_t all = held.floats.size() + held.ints.size();
  if (elements == 0 || all % elements != 0 || job.outputs.empty())
    return unsupported(job.call.tensors[0].param, fmt::format("{} of a tensor without elements", job.call.op));
  const std::size_t chips = all / elements;
  const Shape& given = held.spec.shape;
  const Shape& made = job.outputs[0].spec.shape;
  const Blocks whole = blocks_of(given, made), slice = blocks_of(made, given);
  const auto grown = static_cast<std::size_t>(volume(made));
  const auto absent = [&] {
    return unsupported(job.call.tensors[0].param,
                       fmt::format("{} needs the parts of other chips: replay makes them", job.call.op));
  };
  std::vector<HostTensor> out;
  for (std::size_t o = 0; o < job.outputs.size(); ++o) {
    HostTensor tensor = unwritten(job.outputs[o]);
    const auto take = [&](std::size_t chip, HostTensor& to) {
      if (held.integer())
        cut(held.ints, chip * elements, whole, slice, to.ints);
      else
        cut(held.floats, chip * elements, whole, slice, to.floats);
    };
    switch (what.collective) {
      case Collective::kGather:
        if (chips * elements != grown) return absent();
        if (held.integer())
          join(held.ints, chips, whole, what.reversed, tensor.ints);
        else
          join(held.floats, chips, whole, what.reversed, tensor.floats);
        break;
      case Collective::kReduceScatter:
      case Collective::kAllReduce:
        if (grown > elements || (what.collective == Collective::kReduceScatter && chips * grown != elements))
          return absent();
        take(chips > 1 ? 1 : 0, tensor);
        for (std::size_t i = 2; i <= chips && chips > 1; ++i) {
          HostTensor part{tensor.spec, std::vector<float>(tensor.floats.size()),
                          std::vector<std::int64_t>(tensor.ints.size())};
          take(i % chips, part);
          add_part(part, tensor);
        }
        break;
      case Collective::kAllBroadcast:
        if (o >= chips) return absent();
        take(o, tensor);
        break;
      case Collective::kBroadcast:
      case Collective::kPointToPoint:
        if (chips < 2) return absent();
        take(1, tensor);
        break;
      case Collective::kPartition:
        if (grown > elements) return absent();
        take(0, tensor);
        break;
      case Collective::kNone:
        return unsupported("", fmt::format("{} is no exchange", job.call.op));
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

constexpr Kernel kCollective{.run = run};

}  // namespace

const Kernel* collective_kernel(std::string_view op) {
  return collective_of(op) == Collective::kNone ? nullptr : &kCollective;
}

}  // namespace opwright::sim

#include "device/sim/reduce_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"

namespace opwright::sim {
namespace {

constexpr std::array kRows{
    Reduction{.name = "max", .fold = [](double held, double next) { return next > held ? next : held; }},
    Reduction{.name = "mean", .divides = true},
    Reduction{.name = "min", .fold = [](double held, double next) { return next < held ? next : held; }},
    Reduction{.name = "prod", .fold = [](double held, double next) { return held * next; }},
    Reduction{.name = "std", .squares = true, .root = true},
    Reduction{.name = "sum"},
    Reduction{.name = "var", .squares = true},
};

constexpr std::int64_t kGrain = 16;
constexpr std::int64_t kLanes = 256;  // columns of a strip

// A tensor seen as outer x count x inner, the middle one to be reduced.
struct Cut {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
};

Cut cut_at(const Shape& shape, std::size_t dim) {
  Cut out;
  for (std::size_t i = 0; i < dim; ++i) out.outer *= shape[i];
  out.count = shape[dim];
  for (std::size_t i = dim + 1; i < shape.size(); ++i) out.inner *= shape[i];
  return out;
}

void sum_rows(const float* from, const Cut& cut, float scaler, EngineMode mode, float* to) {
  parallel_for(0, cut.outer, kGrain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      to[r] = fpu_row_sum({from + r * cut.count, static_cast<std::size_t>(cut.count)}, scaler, mode);
  });
}

// Strips of columns: sums on the matrix engine for rows of a matrix, plain additions over outer dimensions.
void sum_columns(const float* from, const Cut& cut, bool of_matrix, float scaler, EngineMode mode, float* to) {
  const std::int64_t strips = (cut.inner + kLanes - 1) / kLanes;
  parallel_for(0, cut.outer * strips, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t column = part % strips * kLanes;
      const auto width = static_cast<std::size_t>(std::min(kLanes, cut.inner - column));
      const float* base = from + part / strips * cut.count * cut.inner + column;
      const std::span<float> sums(to + part / strips * cut.inner + column, width);
      if (of_matrix) {
        fpu_column_sums(base, cut.count, cut.inner, scaler, mode, sums);
        continue;
      }
      std::ranges::fill(sums, 0.0F);
      for (std::int64_t k = 0; k < cut.count; ++k)
        for (std::size_t i = 0; i < width; ++i) {
          const float sum = sums[i] + base[k * cut.inner + static_cast<std::int64_t>(i)];
          sums[i] = mode.dst == Dst::kBf16 ? engine::round_away(sum) : sum;
        }
      if (scaler != 1.0F)
        for (float& sum : sums) sum *= scaler;
    }
  });
}

template <class T>
void folded(const T* from, const Cut& cut, const Reduction& how, T* to) {
  parallel_for(0, cut.outer, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t o = first; o < last; ++o)
      for (std::int64_t k = 0; k < cut.count; ++k)
        for (std::int64_t i = 0; i < cut.inner; ++i) {
          T& held = to[o * cut.inner + i];
          const T next = from[(o * cut.count + k) * cut.inner + i];
          held = k == 0 ? next : static_cast<T>(how.fold(static_cast<double>(held), static_cast<double>(next)));
        }
  });
}

std::int64_t wrapped(std::int64_t value, DType dtype) {
  if (dtype == DType::kUint32) return static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
  return static_cast<std::int64_t>(static_cast<std::int32_t>(value));
}

std::vector<std::int64_t> reduce_integers(const std::vector<std::int64_t>& from, const Cut& cut, const Reduction& how,
                                          DType dtype) {
  std::vector<std::int64_t> to(static_cast<std::size_t>(cut.outer * cut.inner));
  if (how.fold != nullptr) {
    folded(from.data(), cut, how, to.data());
    return to;
  }
  for (std::int64_t o = 0; o < cut.outer; ++o)
    for (std::int64_t k = 0; k < cut.count; ++k)
      for (std::int64_t i = 0; i < cut.inner; ++i)
        to[static_cast<std::size_t>(o * cut.inner + i)] +=
            from[static_cast<std::size_t>((o * cut.count + k) * cut.inner + i)];
  for (std::int64_t& value : to) value = wrapped(value, dtype);
  return to;
}

}  // namespace

HostTensor reduce_tensor(const HostTensor& input, const std::vector<std::size_t>& dims, const Reduction& how,
                         double factor, EngineMode mode, const OutputSpec& out) {
  HostTensor result{out.spec, {}, {}};
  Shape shape = input.spec.shape;
  const std::size_t rank = shape.size();
  std::int64_t terms = 1;
  for (const std::size_t dim : dims) terms *= shape[dim];
  if (how.divides && terms > 0) factor /= static_cast<double>(terms);
  const DType dtype = out.spec.dtype.value;
  result.ints = input.ints;
  // The first step reads the input itself; later ones what the step before has left.
  const std::vector<float>* from = &input.floats;
  std::vector<float> held;
  for (std::size_t n = dims.size(); n-- > 0;) {
    const std::size_t dim = dims[n];
    const Cut cut = cut_at(shape, dim);
    shape[dim] = 1;
    if (input.integer()) {
      result.ints = reduce_integers(result.ints, cut, how, dtype);
      continue;
    }
    // The scaler lies in a bfloat16 tile; the last step has all of it.
    const float scaler = n == 0 && how.fold == nullptr ? round_to_dst(static_cast<float>(factor), Dst::kBf16) : 1.0F;
    std::vector<float> to(static_cast<std::size_t>(cut.outer * cut.inner));
    if (how.fold != nullptr)
      folded(from->data(), cut, how, to.data());
    else if (dim + 1 == rank)
      sum_rows(from->data(), cut, scaler, mode, to.data());
    else
      sum_columns(from->data(), cut, dim + 2 == rank, scaler, mode, to.data());
    pack(to, row_length(shape), dtype, mode.dst);
    held = std::move(to);
    from = &held;
  }
  if (!input.integer()) {
    result.floats = dims.empty() ? input.floats : std::move(held);
    // Dimensions that go away form other groups of shared exponents.
    if (is_block_float(dtype)) pack(result.floats, row_length(out.spec.shape), dtype, Dst::kBf16);
  } else if (factor != 1.0) {
    for (std::int64_t& value : result.ints)
      value = wrapped(static_cast<std::int64_t>(static_cast<double>(value) * factor), dtype);
  }
  return result;
}

namespace {

// Variance and its root, in float32 of two passes over the tensor: numerics are modelled.
HostTensor reduce_spread(const HostTensor& input, const std::vector<std::size_t>& dims, const Reduction& how,
                         double factor, double correction, const OutputSpec& out) {
  HostTensor result = unwritten(out);
  const Shape& shape = input.spec.shape;
  Shape step(shape.size(), 0);  // of the result, along each dimension of the input
  std::int64_t next = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (std::ranges::find(dims, i) != dims.end()) continue;
    step[i] = next;
    next *= shape[i];
  }
  const auto target = [&](std::int64_t element) {
    std::int64_t to = 0;
    for (std::size_t i = shape.size(); i-- > 0; element /= shape[i]) to += element % shape[i] * step[i];
    return static_cast<std::size_t>(to);
  };
  std::vector<float> means(result.floats.size()), squares(result.floats.size());
  const auto count = static_cast<float>(input.size() / std::max<std::int64_t>(result.size(), 1));
  for (std::int64_t i = 0; i < input.size(); ++i) means[target(i)] += input.floats[static_cast<std::size_t>(i)] / count;
  for (std::int64_t i = 0; i < input.size(); ++i) {
    const float rest = input.floats[static_cast<std::size_t>(i)] - means[target(i)];
    squares[target(i)] += rest * rest;
  }
  for (std::size_t i = 0; i < squares.size(); ++i) {
    const float spread = squares[i] / (count - static_cast<float>(correction));
    result.floats[i] = static_cast<float>(factor) * (how.root ? std::sqrt(spread) : spread);
  }
  pack(result.floats, row_length(out.spec.shape), out.spec.dtype.value, Dst::kFp32);
  return result;
}

}  // namespace

const Reduction* find_reduction(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &Reduction::name);
  return found == kRows.end() ? nullptr : &*found;
}

Checked<std::vector<HostTensor>> run_reduction(const KernelJob& job, const Reduction& how) {
  const HostTensor& input = *job.input("input_tensor");
  const auto rank = static_cast<std::int64_t>(input.spec.shape.size());
  OPWRIGHT_CHECK_ASSIGN(const auto named, job.call.ints("dim"));
  std::vector<std::size_t> dims;
  if (named)
    for (const std::int64_t dim : *named)
      if (rank > 0) dims.push_back(static_cast<std::size_t>(dim < 0 ? dim + rank : dim));
  if (dims.empty())
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) dims.push_back(i);
  std::ranges::sort(dims);
  OPWRIGHT_CHECK_ASSIGN(const double scalar, job.call.number("scalar", 1.0));
  const ComputeConfig defaults{.fidelity = job.board.wormhole() ? Fidelity::kHiFi3 : Fidelity::kHiFi4,
                               .fp32_acc = true};
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(job.call, defaults));
  OPWRIGHT_CHECK_ASSIGN(const bool corrected, job.call.flag("correction", true));
  if (how.squares) return std::vector{reduce_spread(input, dims, how, scalar, corrected ? 1 : 0, job.outputs[0])};
  return std::vector{reduce_tensor(input, dims, how, scalar, engine_mode(config), job.outputs[0])};
}

}  // namespace opwright::sim

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/op.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::int64_t kShortIndices = 65536;  // positions that 16 bits can tell apart

struct Picked {
  std::int64_t k = 0;
  std::size_t dim = 0;
  bool largest = true;
};

Checked<Picked> picked_of(const BoundCall& call, const TensorSpec& input) {
  for (const std::string_view param : {"k", "dim"})
    if (call.find(param) != nullptr && call.find(param)->is_null() && call.convention == Convention::kPython)
      return type_error(call.op, param, *call.find(param));
  Picked out;
  OPWRIGHT_CHECK_ASSIGN(out.k, call.integer("k", 32));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", -1));
  OPWRIGHT_CHECK_ASSIGN(out.largest, call.flag("largest", true));
  OPWRIGHT_CHECK(call.flag("sorted", true));
  if (out.k < 0) return type_error(call.op, "k", *call.find("k"));
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  OPWRIGHT_REQUIRE((dim >= -rank && dim < rank) || (rank == 0 && (dim == 0 || dim == -1)),
                   "Dimension for topk is out of range (expected to be in range of [{}, {}])", -rank, rank - 1);
  out.dim = static_cast<std::size_t>(dim < 0 ? std::max<std::int64_t>(dim + rank, 0) : dim);
  const std::int64_t size = rank == 0 ? 1 : input.shape[out.dim];
  OPWRIGHT_REQUIRE(size >= out.k, "K cannot be larger than the dimension size! K={}, dimension size={}", out.k, size);
  return out;
}

Checked<void> check_indices(const TensorSpec& input, const TensorSpec& indices, const Picked& picked) {
  OPWRIGHT_REQUIRE(indices.shape == input.shape, "Indices tensor has incorrect shape! Got : {}, expected: {}",
                   shape_text(indices.shape), shape_text(input.shape));
  OPWRIGHT_REQUIRE(input.shape.empty() || picked.dim + 1 == input.shape.size(),
                   "Indices tensor is only supported for a reduction on the last dimension, got dim={} for rank {}",
                   picked.dim, input.shape.size());
  OPWRIGHT_REQUIRE(tiled(indices), "Optional indices tensor must be in tiled format, got: Layout::{}",
                   name_of(indices.layout.value));
  const DType dtype = indices.dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kUint16 || dtype == DType::kUint32 || dtype == DType::kInt32,
                   "Optional indices tensor must be UINT16, UINT32, or INT32, got: DataType::{}", name_of(dtype));
  OPWRIGHT_REQUIRE(input.dtype.value != DType::kFloat32 || dtype != DType::kUint16,
                   "Optional indices tensor must be UINT32 when input tensor is FLOAT32, got UINT16");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const Picked picked, picked_of(call, *input));
  if (call.passed("output_tensor")) return unsupported("output_tensor", "top-k into tensors that exist already");
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  const MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  const TensorSpec* indices = call.tensor("indices_tensor");
  if (indices != nullptr) OPWRIGHT_CHECK(check_indices(*input, *indices, picked));
  OPWRIGHT_REQUIRE(!memory.sharded(), "Sharded implementation not supported yet");
  OPWRIGHT_REQUIRE(tiled(*input), "The input must be in tiled format");
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kBfloat8B || dtype == DType::kFloat32,
                   "Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: DataType::{}", name_of(dtype));
  Shape shape = input->shape;
  if (!shape.empty()) shape[picked.dim] = picked.k;
  TensorSpec values = moved(*input, shape, memory);
  TensorSpec positions = values;
  // Without an element nothing is looked for, and both outputs are copies of an empty tensor.
  if (volume(shape) > 0) {
    const bool wide = dtype == DType::kFloat32 || (!input->shape.empty() && input->shape[picked.dim] > kShortIndices);
    positions.dtype.value = indices != nullptr ? indices->dtype.value : (wide ? DType::kUint32 : DType::kUint16);
  }
  OPWRIGHT_CHECK(check_tensor(values, board));
  OPWRIGHT_CHECK(check_tensor(positions, board));
  return std::vector{output_spec(std::move(values)), output_spec(std::move(positions))};
}

// The values that the positions of an output stand for, a line at a time.
class PickedValues {
 public:
  PickedValues(const HostTensor& input, const HostTensor* indices, std::int64_t count, std::int64_t inner)
      : input_(input), indices_(indices), count_(count), inner_(inner) {}

  // Whether `position` stands for a value like that of `expected`.
  bool same(std::int64_t base, double expected, double position) {
    if (indices_ == nullptr) {
      const auto within = [&](double p) {
        return p >= 0 && p < static_cast<double>(count_) && p == static_cast<double>(static_cast<std::int64_t>(p));
      };
      return within(expected) && within(position) && at(base, expected) == at(base, position);
    }
    if (base != base_) look_up(base);
    const auto [first, last] = values_.equal_range(expected);
    const auto [begin, end] = values_.equal_range(position);
    return std::any_of(first, last, [&](const auto& wanted) {
      return std::any_of(begin, end, [&](const auto& given) { return wanted.second == given.second; });
    });
  }

 private:
  double at(std::int64_t base, double position) const {
    return input_.at(base + static_cast<std::int64_t>(position) * inner_);
  }
  // Given indices are labels, of which each may stand for several values.
  void look_up(std::int64_t base) {
    base_ = base;
    values_.clear();
    for (std::int64_t i = 0; i < count_; ++i)
      values_.emplace(indices_->at(base + i * inner_), input_.at(base + i * inner_));
  }

  const HostTensor& input_;
  const HostTensor* indices_;
  std::int64_t count_;
  std::int64_t inner_;
  std::int64_t base_ = std::numeric_limits<std::int64_t>::min();
  std::unordered_multimap<double, double> values_;
};

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* indices = job.input("indices_tensor");
  OPWRIGHT_CHECK_ASSIGN(const Picked picked, picked_of(job.call, input.spec));
  const Shape& shape = input.spec.shape;
  const std::int64_t count = shape.empty() ? 1 : shape[picked.dim];
  std::int64_t inner = 1;
  for (std::size_t i = picked.dim + 1; i < shape.size(); ++i) inner *= shape[i];
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  // Positions along the dimension, best first and the first of equals before the others.
  const auto sort_line = [&](std::int64_t base) {
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + picked.k, [&](std::int64_t a, std::int64_t b) {
      const double x = input.at(base + a * inner);
      const double y = input.at(base + b * inner);
      return x == y ? a < b : (picked.largest ? x > y : x < y);
    });
  };
  const auto line_of = [inner, k = picked.k](std::int64_t element) {
    return element / (inner * k) * inner + element % inner;
  };
  const auto base_of = [inner, count, line_of](std::int64_t element) {
    const std::int64_t line = line_of(element);
    return line / inner * inner * count + line % inner;
  };
  OPWRIGHT_CHECK_ASSIGN(const bool stable, job.call.flag("stable", false));
  Exact exact;
  if (job.output == 1 && !stable) {
    const auto values = std::make_shared<PickedValues>(input, indices, count, inner);
    exact.same_choice = [values, base_of](std::int64_t element, double expected, double actual) {
      return values->same(base_of(element), expected, actual);
    };
    exact.choice_of = line_of;
  }
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    for (std::int64_t i = 0; i < job.rows.length; ++i) {
      const std::int64_t at = job.rows.at(r) * job.rows.length + i;
      const std::int64_t place = at / inner % picked.k;
      const std::int64_t base = base_of(at);
      if (i == 0 || inner != 1) sort_line(base);
      const std::int64_t from = base + order[static_cast<std::size_t>(place)] * inner;
      if (job.output == 0)
        exact.value.push_back(input.at(from));
      else
        exact.value.push_back(indices == nullptr ? static_cast<double>(order[static_cast<std::size_t>(place)])
                                                 : indices->at(from));
    }
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t output) {
  const bool stable = call.flag("stable", false).value_or(false);
  return {.kind = ErrorBudget::Kind::kSelection,
          .why = output == 0 ? "values of the input, best first"
                 : stable    ? "positions, the first of equal values first"
                             : "positions, each once; of equal values any"};
}

// Positions that count along the row, as models make them.
bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  if (call.tensors[slot].param != "indices_tensor" || !tensor.integer()) return false;
  const std::int64_t width = row_length(tensor.spec.shape);
  tensor.ints.resize(static_cast<std::size_t>(tensor.size()));
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.ints[static_cast<std::size_t>(i)] = i % width;
  return true;
}

}  // namespace

const OpSpec& topk_op() {
  static const OpSpec spec{
      .name = "ttnn.topk",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kRanked},
                 {.name = "k", .era1 = 1},
                 {.name = "dim", .era1 = 2, .lost = Lost::kAssumeNone},
                 {.name = "largest", .era1 = 3},
                 {.name = "sorted", .era1 = 4},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "sub_core_grids", .era1 = 6, .lost = Lost::kNoMatter},
                 {.name = "indices_tensor", .era1 = 7, .role = Role::kIndices},
                 {.name = "output_tensor", .era1 = 8, .lost = Lost::kAssumeNone, .role = Role::kBuffer},
                 {.name = "stable"}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .fill = fill,
  };
  return spec;
}

}  // namespace opwright

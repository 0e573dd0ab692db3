#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/reduce_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

// Ascending, each once.
Checked<std::vector<std::size_t>> dims_of(const BoundCall& call, const TensorSpec& input) {
  OPWRIGHT_CHECK_ASSIGN(const auto named, call.ints("dims"));
  OPWRIGHT_REQUIRE(named && !named->empty(), "fast_reduce_nc dims should not be empty");
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  OPWRIGHT_REQUIRE(rank > 2, "FastReduceNC input rank must be greater than 2, but has {}", rank);
  std::vector<std::size_t> out;
  for (const std::int64_t dim : *named) {
    OPWRIGHT_REQUIRE(dim >= -rank && dim < rank, "ShapeBase[] index out of range. {} not in [-{}, {})", dim, rank,
                     rank);
    OPWRIGHT_REQUIRE(dim >= 0 && dim <= rank - 3,
                     "FastReduceNC reduces only outer dims: dim must be between 0 and {}, but has {}", rank - 3, dim);
    out.push_back(static_cast<std::size_t>(dim));
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_REQUIRE(!on_host(*input), "Input tensor storage type must be DEVICE but got StorageType::HOST");
  OPWRIGHT_CHECK(require_on_device(*input));
  OPWRIGHT_CHECK_ASSIGN(const auto dims, dims_of(call, *input));
  OPWRIGHT_REQUIRE(tiled(*input), "FastReduceNC input only supports TILE layout.");
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kBfloat8B || dtype == DType::kFloat32,
                   "FastReduceNC input only supports specific data types. [BFLOAT16, BFLOAT8_B, FLOAT32]");
  // The result has the padding of the input as its own rows and columns.
  const Shape shape = reduced_shape(padded_shape(*input), dims, true);
  if (const TensorSpec* given = call.tensor("output")) {
    if (given->shape != shape) return unsupported("output", "an output of another shape than the result");
    return given_back(*given, "output");
  }
  MemoryConfig memory = asked == nullptr ? interleaved(BufferType::kDram) : *asked;
  OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard || memory.nd_shard, "bad optional access");
  return made(moved(*input, shape, std::move(memory)), board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input");
  OPWRIGHT_CHECK_ASSIGN(const auto dims, dims_of(job.call, input.spec));
  const Shape& shape = input.spec.shape;
  const Shape& out = job.outputs[job.output].spec.shape;
  const std::int64_t width = shape.back();
  const std::int64_t height = shape[shape.size() - 2];
  const std::int64_t out_height = out[out.size() - 2];
  Rows line{.total = 1, .length = width, .picked = {0}};
  Exact exact;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r) % out_height;
    Exact found;
    if (row < height) {
      line.picked[0] = job.rows.at(r) / out_height * height + row;
      found = reduce_exact(input, dims, Reduction(), 1.0, line);
    }
    found.value.resize(static_cast<std::size_t>(job.rows.length), 0.0);
    found.magnitude.resize(found.value.size(), 0.0);
    exact.value.insert(exact.value.end(), found.value.begin(), found.value.end());
    exact.magnitude.insert(exact.magnitude.end(), found.magnitude.begin(), found.magnitude.end());
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  std::int64_t terms = 1;
  const TensorSpec* input = call.tensor("input");
  if (input != nullptr)
    if (const auto dims = dims_of(call, *input))
      for (const std::size_t dim : *dims) terms *= input->shape[dim];
  return sum_budget(terms);
}

}  // namespace

const OpSpec& fast_reduce_nc_op() {
  static const OpSpec spec{
      .name = "ttnn.experimental.fast_reduce_nc",
      .params = {{.name = "input", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "dims", .era1 = 1},
                 {.name = "output", .era1 = 2, .role = Role::kBuffer},
                 {.name = "memory_config", .era1 = 3},
                 {.name = "compute_kernel_config", .era1 = 4},
                 {.name = "sub_core_grids", .lost = Lost::kNoMatter}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .on_whole = OnWhole::kSums,
      .sum = [](const BoundCall& call) { return summed(call, "input", "dims"); },
  };
  return spec;
}

}  // namespace opwright

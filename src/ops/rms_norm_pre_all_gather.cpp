#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/norm_rules.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;
constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<void> check_residual(const TensorSpec& input, const TensorSpec& residual) {
  OPWRIGHT_REQUIRE(input.shape == residual.shape && padded_shape(input) == padded_shape(residual),
                   "Input and residual logical and padded shapes must match, got input: logical={} padded={} vs "
                   "residual: logical={} padded={}",
                   shape_text(input.shape), shape_text(padded_shape(input)), shape_text(residual.shape),
                   shape_text(padded_shape(residual)));
  return {};
}

// One core of a sharded norm collects the statistics.
Checked<MemoryConfig> sharded_place(const BoundCall& call, const TensorSpec& input, const Board& board) {
  OPWRIGHT_CHECK(check_distributed_shards(call, input, board));
  ShardSpec shard = *shard_of(input);
  const CoreCoord first = shard.grid.front().start;
  shard.grid = {{first, first}};
  shard.shape = {last(padded_shape(input), 2), kTile};
  return with_shard(memory_of(input), std::move(shard));
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, call.dtype("dtype", DType::kBfloat16));
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(call, kDefaults));
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  OPWRIGHT_REQUIRE(tiled(*input), "Only tilized inputs supported.");
  MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  const bool cut = sharded(*input);
  OPWRIGHT_REQUIRE(cut || !memory.sharded(),
                   "Output memory config must be interleaved for an interleaved input, got: TensorMemoryLayout::{}",
                   name_of(memory.layout.value));
  const DType from = input->dtype.value;
  OPWRIGHT_REQUIRE(from == DType::kBfloat16 || from == DType::kBfloat8B || from == DType::kFloat32,
                   "Input data format not supported.");
  OPWRIGHT_REQUIRE(cut || from != DType::kFloat32 || config.fp32_acc,
                   "rms_norm_pre_all_gather with Float32 input requires fp32_dest_acc_en=true in the compute kernel "
                   "config; otherwise precision is silently lost in the unpacker format conversion.");
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  OPWRIGHT_REQUIRE(rank >= 4, "ShapeBase[] index out of range. 3 not in [-4, {})", rank);
  if (const TensorSpec* residual = call.tensor("residual_input_tensor"))
    OPWRIGHT_CHECK(check_residual(*input, *residual));
  if (cut) {
    OPWRIGHT_CHECK_ASSIGN(memory, sharded_place(call, *input, board));
  }
  Shape shape = input->shape;
  shape.back() = kTile;
  TensorSpec out = moved(*input, std::move(shape), std::move(memory));
  out.dtype.value = dtype;
  return made(std::move(out), board);
}

// The sum of squares in the first column; cores of a sharded tensor exchange the mean instead.
Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* residual = job.input("residual_input_tensor");
  const std::int64_t width = row_length(input.spec.shape);
  const double divisor = sharded(input.spec) ? static_cast<double>(width) : 1.0;
  Exact exact;
  exact.value.assign(static_cast<std::size_t>(job.rows.count() * job.rows.length), 0.0);
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t at = job.rows.at(r) * width + i;
      const double value = input.at(at) + (residual == nullptr ? 0.0 : residual->at(at));
      sum += value * value;
    }
    exact.value[static_cast<std::size_t>(r * job.rows.length)] = sum / divisor;
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  const TensorSpec* input = call.tensor("input_tensor");
  return norm_budget(compute_argument(call, kDefaults).value_or(kDefaults),
                     input == nullptr ? 1 : row_length(input->shape));
}

}  // namespace

const OpSpec& rms_norm_pre_all_gather_op() {
  static const OpSpec spec{
      .name = "ttnn.rms_norm_pre_all_gather",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kNormed},
                 {.name = "dtype", .era1 = 1},
                 {.name = "residual_input_tensor", .era1 = 2, .role = Role::kNormed},
                 {.name = "compute_kernel_config", .era1 = 3},
                 {.name = "program_config", .era1 = 4, .lost = Lost::kAssumeNone},
                 {.name = "memory_config", .era1 = 6},
                 {.name = "use_2d_core_grid", .era1 = 7},
                 {.name = "fast_and_approximate_mode"},
                 {.name = "distributed_program_config", .era1 = 5, .lost = Lost::kNoMatter}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright

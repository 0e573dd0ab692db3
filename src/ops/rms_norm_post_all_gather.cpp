#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/norm_rules.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;
constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<void> check_weight(const TensorSpec& input, const TensorSpec& weight, std::string_view name) {
  OPWRIGHT_REQUIRE(weight.dtype.value == DType::kBfloat16 || weight.dtype.value == DType::kFloat32,
                   "{} tensor must be BFLOAT16 or FLOAT32, got: DataType::{}", name, name_of(weight.dtype.value));
  const Shape other = padded_shape(weight);
  const std::int64_t width = last(padded_shape(input));
  if (tiled(weight)) {
    OPWRIGHT_REQUIRE(last(other) == width, "{} tensor width must match input width, got {} vs {}", name, last(other),
                     width);
    return {};
  }
  OPWRIGHT_REQUIRE(last(other) == kTile && volume(other) / kTile == width / kTile,
                   "{} tensor dimensions must align with input tensor. Got {} padded shape: {}, physical volume: {}, "
                   "input padded shape: {}, tile_width: {}",
                   name, name == "Gamma" ? "gamma" : "beta", last(other), volume(other), width, kTile);
  return {};
}

Checked<void> check_stats(const TensorSpec& input, const TensorSpec& stats, const ComputeConfig& config) {
  OPWRIGHT_REQUIRE(tiled(stats), "Stats tensor must have TILE layout, got: Layout::{}", name_of(stats.layout.value));
  const Shape a = padded_shape(input);
  const Shape b = padded_shape(stats);
  const auto at = [](const Shape& shape, std::size_t i) { return i < shape.size() ? shape[i] : 0; };
  OPWRIGHT_REQUIRE(at(b, 0) == at(a, 0), "Stats and input batch sizes must match, got stats: {} vs input: {}", at(b, 0),
                   at(a, 0));
  for (const std::size_t dim : {std::size_t{1}, std::size_t{2}})
    OPWRIGHT_REQUIRE(at(b, dim) == at(a, dim), "Stats and input dim{} must match, got stats: {} vs input: {}", dim,
                     at(b, dim), at(a, dim));
  const bool wide = input.dtype.value == DType::kFloat32 || stats.dtype.value == DType::kFloat32;
  OPWRIGHT_REQUIRE(!wide || config.fp32_acc,
                   "FLOAT32 input/stats require fp32_dest_acc_en=true in the compute kernel config.");
  return {};
}

Checked<void> check_sharded_stats(const TensorSpec& stats) {
  OPWRIGHT_REQUIRE(sharded(stats), "Stats must be sharded");
  OPWRIGHT_REQUIRE(tiled(stats), "Only tile layout is supported for stats");
  OPWRIGHT_REQUIRE(stats.dtype.value == DType::kBfloat16, "Only bfloat16 is supported for stats");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* stats, tensor_argument(call, "stats"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, call.dtype("dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig config, compute_argument(call, kDefaults));
  OPWRIGHT_CHECK(call.number("epsilon", 1e-12));
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  OPWRIGHT_REQUIRE(tiled(*input), "Input tensor must have TILE layout, got: Layout::{}", name_of(input->layout.value));
  const DType from = input->dtype.value;
  OPWRIGHT_REQUIRE(from == DType::kBfloat16 || from == DType::kBfloat8B || from == DType::kFloat32,
                   "Input data format not supported.");
  MemoryConfig memory = asked == nullptr ? memory_of(*input) : *asked;
  if (sharded(*input)) {
    OPWRIGHT_CHECK(check_distributed_shards(call, *input, board));
    OPWRIGHT_CHECK(check_sharded_stats(*stats));
    OPWRIGHT_CHECK(check_norm_weights(call, *input));
    OPWRIGHT_REQUIRE(memory.sharded(), "bad optional access");
    if (!memory.shard) memory = memory_of(*input);
  } else {
    OPWRIGHT_CHECK(check_stats(*input, *stats, config));
    if (const TensorSpec* weight = call.tensor("weight")) OPWRIGHT_CHECK(check_weight(*input, *weight, "Gamma"));
    if (const TensorSpec* bias = call.tensor("bias")) OPWRIGHT_CHECK(check_weight(*input, *bias, "Beta"));
  }
  OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard || memory.nd_shard, "bad optional access");
  const auto rows = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - (shape.empty() ? 0 : 1)); };
  if (rows(input->shape) != rows(stats->shape))
    return unsupported("stats", "statistics of padding rows: their logical rows are not those of the input");
  TensorSpec out = moved(*input, input->shape, std::move(memory));
  out.dtype.value = dtype;
  return made(std::move(out), board);
}

// Statistics of all devices side by side, one tile each: sums of squares, or their means when sharded.
double mean_square(const HostTensor& stats, std::int64_t row, bool means, std::int64_t width) {
  const std::int64_t columns = row_length(stats.spec.shape);
  double sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += stats.at(row * columns + i);
  const auto devices = static_cast<double>(std::max<std::int64_t>(div_up(columns, kTile), 1));
  return sum / (means ? devices : devices * static_cast<double>(width));
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor& stats = *job.input("stats");
  const HostTensor* weight = job.input("weight");
  const HostTensor* bias = job.input("bias");
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  const std::int64_t width = job.rows.length;
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * width));
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const double scale = 1.0 / std::sqrt(mean_square(stats, row, sharded(input.spec), width) + epsilon);
    for (std::int64_t i = 0; i < width; ++i)
      exact.value.push_back(input.at(row * width + i) * scale * (weight == nullptr ? 1.0 : weight->at(i)) +
                            (bias == nullptr ? 0.0 : bias->at(i)));
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  return norm_budget(compute_argument(call, kDefaults).value_or(kDefaults), row_length(outputs[output].spec.shape));
}

// What rms_norm_pre_all_gather leaves: a value in the first column of each tile, nothing beside it.
bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != "stats" || tensor.integer()) return false;
  const TensorSpec* input = call.tensor("input_tensor");
  const double scale = input == nullptr || sharded(*input) ? 1.0 : static_cast<double>(row_length(input->shape));
  const std::int64_t columns = row_length(tensor.spec.shape);
  const double epsilon = std::clamp(call.number("epsilon", 1e-12).value_or(1e-12), 1e-30, 1.0);
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  double size = scale;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t row = i / columns;
    // Rows differ by up to 2^8, every fourth is of the size of epsilon, and no two devices agree.
    if (i % columns == 0)
      size = scale * (row % 4 == 0 ? epsilon : std::ldexp(1.0, static_cast<int>(random.below(9)) - 4));
    tensor.floats[static_cast<std::size_t>(i)] =
        i % columns % kTile == 0 ? static_cast<float>(size * (0.25 + 1.5 * random.uniform())) : 0.0F;
  }
  return true;
}

}  // namespace

const OpSpec& rms_norm_post_all_gather_op() {
  static const OpSpec spec{
      .name = "ttnn.rms_norm_post_all_gather",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "stats", .era1 = 1, .required = true, .role = Role::kStatistics},
                 {.name = "epsilon", .era1 = 2},
                 {.name = "weight", .era1 = 3, .role = Role::kGains},
                 {.name = "bias", .era1 = 4, .role = Role::kPlain},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "compute_kernel_config", .era1 = 6},
                 {.name = "program_config", .era1 = 7, .lost = Lost::kAssumeNone},
                 {.name = "dtype", .era1 = 9},
                 {.name = "use_2d_core_grid", .era1 = 10},
                 {.name = "distributed_program_config", .era1 = 8, .lost = Lost::kNoMatter}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .fill = fill,
  };
  return spec;
}

}  // namespace opwright

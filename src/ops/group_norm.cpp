#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dialect/ttnn/compute_config.h"
#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/norm_rules.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

Checked<void> check_weight(const TensorSpec& weight, std::string_view name) {
  OPWRIGHT_REQUIRE(weight.shape.size() <= 4, "Tensor rank is greater than 4");
  const Shape padded = padded_shape(weight);
  OPWRIGHT_CHECK(require_pages(weight));
  OPWRIGHT_REQUIRE(tiled(weight) || last(padded) == kTile,
                   "{} tensor inner dimension must equal tile width ({}), got: {}", name, kTile, last(padded));
  OPWRIGHT_REQUIRE(weight.dtype.value == DType::kBfloat16 || weight.dtype.value == DType::kFloat32,
                   "{} tensor must be BFLOAT16 or FLOAT32, got: DataType::{}", name, name_of(weight.dtype.value));
  return {};
}

Checked<void> check_weights(const BoundCall& call) {
  const TensorSpec* gamma = call.tensor("weight");
  const TensorSpec* beta = call.tensor("bias");
  for (const std::string_view param : {"weight", "bias", "input_mask", "negative_mask"})
    if (call.passed(param) && call.tensor(param) == nullptr) return type_error(call.op, param, *call.find(param));
  if (gamma != nullptr) OPWRIGHT_CHECK(check_weight(*gamma, "Gamma"));
  if (gamma != nullptr && beta != nullptr)
    OPWRIGHT_REQUIRE(gamma->layout == beta->layout,
                     "Gamma and beta must have the same layout, got gamma: Layout::{} vs beta: Layout::{}",
                     name_of(gamma->layout.value), name_of(beta->layout.value));
  if (beta != nullptr) OPWRIGHT_CHECK(check_weight(*beta, "Beta"));
  for (const TensorSpec* weight : {gamma, beta})
    if (weight != nullptr)
      OPWRIGHT_REQUIRE(!tiled(*weight), "Gamma tensor must have ROW_MAJOR layout, but has Layout::TILE layout");
  return {};
}

Checked<void> check_mask(const BoundCall& call, std::int64_t groups) {
  const TensorSpec* mask = call.tensor("input_mask");
  if (mask == nullptr) return {};
  OPWRIGHT_REQUIRE(tiled(*mask), "Input mask must have TILE layout, got: Layout::{}", name_of(mask->layout.value));
  const Shape padded = padded_shape(*mask);
  OPWRIGHT_REQUIRE(padded.size() == 4 && padded[1] == groups, "Input mask dim1 must be {} (num_groups={}), got: {}",
                   groups, groups, padded.size() == 4 ? padded[1] : 0);
  return {};
}

// Columns and rows of the grid that the call names; the library's own where it names none.
Checked<std::optional<CoreCoord>> core_grid(const BoundCall& call) {
  if (!call.passed("core_grid")) return std::nullopt;
  const Value& value = *call.find("core_grid");
  const Fields* fields = value.as_struct() != nullptr ? &value.as_struct()->fields : value.as_dict();
  if (fields == nullptr) return type_error(call.op, "core_grid", value);
  CoreCoord out{0, 0};
  for (const auto& [name, field] : *fields) {
    if (name == "x" && field.as_int() != nullptr) out.x = *field.as_int();
    if (name == "y" && field.as_int() != nullptr) out.y = *field.as_int();
  }
  return out;
}

// A sharded norm works on its shards where they are, and its result must have as much room on every core.
Checked<void> check_shards(const BoundCall& call, const TensorSpec& input, const MemoryConfig& out, std::int64_t groups,
                           bool inplace, const Board& board) {
  const ShardSpec* shard = shard_of(input);
  OPWRIGHT_REQUIRE(shard != nullptr && shard->shape.size() == 2 && !shard->grid.empty(), "bad optional access");
  OPWRIGHT_CHECK_ASSIGN(const auto grid, core_grid(call));
  if (grid) {
    OPWRIGHT_CHECK(check_sharded_input(input, *grid, board));
    std::int64_t columns = 0;
    std::int64_t rows = 0;
    for (const CoreRange& range : shard->grid) {
      columns = std::max(columns, range.end.x - shard->grid.front().start.x + 1);
      rows = std::max(rows, range.end.y - shard->grid.front().start.y + 1);
    }
    OPWRIGHT_REQUIRE(grid->x == columns && grid->y == rows,
                     "program_config compute_with_storage_grid_size ({}x{}) must match shard grid dimensions ({}x{})",
                     grid->x, grid->y, columns, rows);
  }
  const std::int64_t per_group = last(input.shape) / groups;
  OPWRIGHT_REQUIRE(shard->shape[1] % per_group == 0,
                   "per_core_N ({}) must be divisible by num_datum_row_per_group ({})", shard->shape[1], per_group);
  if (inplace) return {};
  OPWRIGHT_REQUIRE(in_l1(out), "Only L1 buffers can have an associated circular buffer!");
  const std::int64_t wanted = shard->shape[0] * shard->shape[1];
  OPWRIGHT_REQUIRE(out.shard && out.shard->shape.size() == 2 && out.shard->shape[0] * out.shard->shape[1] >= wanted,
                   "Cannot set circular buffer size to {}. This is larger than the associated dynamically allocated L1 "
                   "buffer bank size",
                   wanted * element_bytes(input.dtype.value));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t groups, call.integer("num_groups", 1));
  OPWRIGHT_CHECK_ASSIGN(const bool inplace, call.flag("inplace", true));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, call.dtype("dtype", input->dtype.value));
  OPWRIGHT_CHECK_ASSIGN(const Layout layout, call.layout("output_layout", input->layout.value));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK(call.number("epsilon", 1e-12));
  for (const TensorSlot& slot : call.tensors) OPWRIGHT_CHECK(require_on_device(slot.spec));
  OPWRIGHT_REQUIRE(!tiled(*input) || !inplace,
                   "In-place operation not supported: Tile layout requires non-inplace tensors. (inplace=true)");
  const std::size_t rank = input->shape.size();
  OPWRIGHT_REQUIRE(rank == 4, "Invalid tensor shape: Input tensor must have rank 4. (rank={})", rank);
  OPWRIGHT_REQUIRE(groups > 0, "num_groups must be greater than 0, got {}", groups);
  OPWRIGHT_REQUIRE(last(input->shape) % groups == 0 && last(input->shape) > 0,
                   "Invalid channel configuration: Number of channels ({}) must be divisible by the number of groups "
                   "({}).",
                   last(input->shape), groups);
  OPWRIGHT_REQUIRE(dtype == input->dtype.value,
                   "group_norm output dtype must match input dtype (DataType::{}), got dtype=DataType::{}",
                   name_of(input->dtype.value), name_of(dtype));
  const bool cut = sharded(*input);
  OPWRIGHT_REQUIRE(cut || tiled(*input) || board.wormhole(),
                   "group_norm: interleaved (non-sharded) input must be in TILE layout, got ROW_MAJOR. Convert the "
                   "input with ttnn.to_layout(input, ttnn.TILE_LAYOUT) before calling group_norm. ROW_MAJOR is "
                   "supported only for sharded inputs, or on Wormhole.");
  OPWRIGHT_REQUIRE(cut || !inplace, "inplace groupnorm not supported for unsharded tensors");
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32,
                   "Input tensor must be BFLOAT16 or FLOAT32, got: DataType::{}", name_of(dtype));
  const Shape padded = padded_shape(*input);
  OPWRIGHT_REQUIRE(last(padded) % groups == 0, "channel must be divisible by num_groups!");
  OPWRIGHT_REQUIRE(padded[1] == 1, "input tensor shape[1] must be 1!");
  OPWRIGHT_CHECK(check_weights(call));
  OPWRIGHT_CHECK(check_mask(call, groups));
  MemoryConfig memory = asked == nullptr ? interleaved(BufferType::kDram) : *asked;
  if (cut) OPWRIGHT_CHECK(check_shards(call, *input, memory, groups, inplace, board));
  if (inplace) return given_back(*input, "input_tensor");
  OPWRIGHT_REQUIRE(!memory.sharded() || memory.shard || memory.nd_shard, "bad optional access");
  TensorSpec out = moved(*input, input->shape, std::move(memory));
  out.layout.value = layout;
  return made(std::move(out), board);
}

// Mean and 1 / standard deviation of each group of one image.
struct Statistics {
  std::vector<double> mean;
  std::vector<double> scale;
};

Statistics statistics_of(const HostTensor& input, std::int64_t image, std::int64_t groups, double epsilon) {
  const Shape& shape = input.spec.shape;
  const std::int64_t channels = shape[3];
  const std::int64_t rows = shape[1] * shape[2];
  const std::int64_t width = channels / groups;
  std::vector<double> sum(static_cast<std::size_t>(groups), 0.0);
  std::vector<double> square(static_cast<std::size_t>(groups), 0.0);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < channels; ++c) {
      const double value = input.at((image * rows + r) * channels + c);
      sum[static_cast<std::size_t>(c / width)] += value;
      square[static_cast<std::size_t>(c / width)] += value * value;
    }
  Statistics out;
  const auto count = static_cast<double>(rows * width);
  for (std::size_t g = 0; g < sum.size(); ++g) {
    const double mean = sum[g] / count;
    out.mean.push_back(mean);
    out.scale.push_back(1.0 / std::sqrt(std::max(square[g] / count - mean * mean, 0.0) + epsilon));
  }
  return out;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const HostTensor* weight = job.input("weight");
  const HostTensor* bias = job.input("bias");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t groups, job.call.integer("num_groups", 1));
  OPWRIGHT_CHECK_ASSIGN(const double epsilon, job.call.number("epsilon", 1e-12));
  const std::int64_t channels = job.rows.length;
  const std::int64_t rows = input.spec.shape[1] * input.spec.shape[2];
  const auto of = [&](const HostTensor* tensor, std::int64_t c, double otherwise) {
    return tensor == nullptr || c >= tensor->size() ? otherwise : tensor->at(c);
  };
  Exact exact;
  Statistics statistics;
  std::int64_t image = -1;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    if (row / rows != image) {
      image = row / rows;
      statistics = statistics_of(input, image, groups, epsilon);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto g = static_cast<std::size_t>(c / (channels / groups));
      const double value = input.at(row * channels + c);
      const double gain = of(weight, c, 1.0);
      const double shift = of(bias, c, 0.0);
      exact.value.push_back((value - statistics.mean[g]) * statistics.scale[g] * gain + shift);
      exact.magnitude.push_back((std::abs(value) + std::abs(statistics.mean[g]) + 0.125 / statistics.scale[g]) *
                                    statistics.scale[g] * std::abs(gain) +
                                std::abs(shift));
    }
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};
  return norm_budget(compute_argument(call, kDefaults).value_or(kDefaults), volume(outputs[output].spec.shape), true);
}

// Masks choose the channels of a group within its tiles: group g begins in the middle of a tile, where its channels do.
bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  const TensorSpec* input = call.tensor("input_tensor");
  const auto groups = call.integer("num_groups", 1);
  const bool mask = param == "input_mask" || param == "negative_mask";
  if (tensor.integer() || !mask || input == nullptr || !groups || *groups <= 0 || tensor.spec.shape.size() < 3)
    return false;
  const Shape& shape = tensor.spec.shape;
  const std::int64_t channels = std::max<std::int64_t>(1, row_length(input->shape) / *groups);
  const std::int64_t width = row_length(shape);
  const std::int64_t plane = width * shape[shape.size() - 2];
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t begin = i / plane % *groups * channels % 32;
    const bool belongs = i % width >= begin && i % width < begin + channels;
    tensor.floats[static_cast<std::size_t>(i)] = belongs == (param == "input_mask") ? 1.0F : 0.0F;
  }
  return true;
}

}  // namespace

const OpSpec& group_norm_op() {
  static const OpSpec spec{
      .name = "ttnn.group_norm",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kNormed},
                 {.name = "num_groups", .era1 = 1, .required = true},
                 {.name = "epsilon", .era1 = 2},
                 {.name = "input_mask", .era1 = 3, .role = Role::kChannels},
                 {.name = "weight", .era1 = 4, .role = Role::kGains},
                 {.name = "bias", .era1 = 5, .role = Role::kPlain},
                 {.name = "reciprocals", .era1 = 6, .role = Role::kReciprocals},
                 {.name = "memory_config", .era1 = 7},
                 {.name = "dtype", .era1 = 8},
                 {.name = "core_grid", .era1 = 9},
                 {.name = "inplace", .era1 = 10},
                 {.name = "output_layout", .era1 = 11},
                 {.name = "num_out_blocks", .era1 = 12},
                 {.name = "compute_kernel_config", .era1 = 13},
                 {.name = "negative_mask", .era1 = 14, .role = Role::kChannels},
                 {.name = "use_welford", .era1 = 15}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
      .fill = fill,
  };
  return spec;
}

}  // namespace opwright

#include "ops/shared/softmax_rules.h"

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

// The mask's values for one row of the input. Row-major masks hold one long row a batch entry; tiled ones a row for
// every row (causal), or one that serves all.
class Mask {
 public:
  Mask(const HostTensor* mask, bool each_row, const Shape& input) : mask_(mask), each_row_(each_row) {
    if (mask == nullptr) return;
    const Shape& shape = mask->spec.shape;
    flat_ = mask->spec.layout.value == Layout::kRowMajor;
    width_ = last(shape);
    height_ = last(shape, 2);
    batch_ = shape.size() < 4 ? 1 : shape[0];
    input_height_ = last(input, 2);
    rows_per_batch_ = input.size() < 4 ? volume(input) / std::max<std::int64_t>(last(input), 1)
                                       : volume(input) / std::max<std::int64_t>(last(input) * input[0], 1);
  }

  double at(std::int64_t row, std::int64_t column) const {
    if (mask_ == nullptr || column >= (flat_ ? height_ * width_ : width_)) return 0.0;
    const std::int64_t entry = row / std::max<std::int64_t>(rows_per_batch_, 1) % std::max<std::int64_t>(batch_, 1);
    const std::int64_t line = each_row_ && !flat_ ? row % input_height_ % std::max<std::int64_t>(height_, 1) : 0;
    return mask_->at(entry * height_ * width_ + line * width_ + column);
  }

 private:
  const HostTensor* mask_;
  bool each_row_;
  bool flat_ = false;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::int64_t batch_ = 1;
  std::int64_t input_height_ = 1;
  std::int64_t rows_per_batch_ = 1;
};

void along_row(const HostTensor& input, const Mask& mask, double scale, std::int64_t row, std::int64_t width,
               Exact& exact) {
  std::vector<double> values(static_cast<std::size_t>(width));
  double largest = -INFINITY;
  for (std::int64_t i = 0; i < width; ++i) {
    double& value = values[static_cast<std::size_t>(i)];
    value = input.at(row * width + i) * scale + mask.at(row, i);
    largest = std::max(largest, value);
  }
  double sum = 0;
  for (double& value : values) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (const double value : values) exact.value.push_back(value / sum);
}

// The source registers hold 11 bits of a float32: what a logit loses there is an error of its weight, in proportion to
// the logit, and what the largest one loses an error of all others. `relative` is the budget's, which magnitudes are
// multiplied with; `alone`: a row is a line of its own.
void lose_bits_of_logits(const HostTensor& input, double scale, const Rows& rows, double relative, bool alone,
                         Exact& exact) {
  if (input.spec.dtype.value != DType::kFloat32 || relative <= 0) return;
  const auto largest_of = [&](std::int64_t from, std::int64_t count) {
    double largest = 0;
    for (std::int64_t i = from; i < from + count; ++i)
      if (std::isfinite(input.at(i))) largest = std::max(largest, std::abs(input.at(i) * scale));
    return largest;
  };
  const double anywhere = alone ? 0.0 : largest_of(0, input.size());
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const double logits = 2 * (alone ? largest_of(rows.at(r) * rows.length, rows.length) : anywhere);
    for (std::int64_t i = 0; i < rows.length; ++i) {
      const double value = exact.value[static_cast<std::size_t>(r * rows.length + i)];
      exact.magnitude.push_back(value * (1 + logits * 0x1p-10 / relative));
    }
  }
}

}  // namespace

Checked<void> check_softmax_input(const TensorSpec& input) {
  OPWRIGHT_REQUIRE(tiled(input), "Inputs to softmax must be tilized");
  const DType dtype = input.dtype.value;
  OPWRIGHT_REQUIRE(dtype == DType::kFloat32 || dtype == DType::kBfloat16 || dtype == DType::kBfloat8B,
                   "Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: DataType::{}", name_of(dtype));
  return {};
}

Checked<std::size_t> softmax_dim(const BoundCall& call, const TensorSpec& input) {
  if (call.find("dim") != nullptr && call.find("dim")->is_null() && call.convention == Convention::kPython)
    return type_error(call.op, "dim", *call.find("dim"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t dim, call.integer("dim", -1));
  const auto rank = std::max<std::int64_t>(static_cast<std::int64_t>(input.shape.size()), 1);
  OPWRIGHT_REQUIRE(dim >= -rank && dim < rank,
                   "Dimension out of range (expected to be in range of [{}, {}], but got {})", -rank, rank - 1, dim);
  return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
}

Checked<void> check_softmax_program(const BoundCall& call, const TensorSpec& input, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const NormProgram program, norm_program(call));
  if (program.choice != ProgramChoice::kSharded) return {};
  const ShardSpec* shard = shard_of(input);
  OPWRIGHT_REQUIRE(shard != nullptr && shard->shape.size() == 2,
                   "output_mem_config must have a shard_spec when using SoftmaxShardedMultiCoreProgramConfig");
  const std::int64_t height = shard->shape[0] / kTile;
  const std::int64_t width = shard->shape[1] / kTile;
  OPWRIGHT_REQUIRE(program.sharded.block_h == height,
                   "block_h ({}) must match the shard height in tiles ({}). Shard shape is [{}, {}] with tile height "
                   "{}.",
                   program.sharded.block_h, height, shard->shape[0], shard->shape[1], kTile);
  OPWRIGHT_REQUIRE(program.sharded.block_w == width,
                   "block_w ({}) must match the shard width in tiles ({}). Shard shape is [{}, {}] with tile width {}.",
                   program.sharded.block_w, width, shard->shape[0], shard->shape[1], kTile);
  OPWRIGHT_CHECK(require_pages(input));
  OPWRIGHT_CHECK(check_sharded_input(input, program.sharded.grid, board));
  OPWRIGHT_REQUIRE(in_l1(memory_of(input)),
                   "DFB 'in0' borrows memory from TensorParameter 'src', but its TensorSpec is not L1-resident (L1 is "
                   "required). Both L1 and L1_SMALL are accepted.");
  return {};
}

Checked<Exact> softmax_reference(const ReferenceJob& job, std::size_t dim) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape& shape = input.spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const double head, job.call.number("head_size", 1.0));
  OPWRIGHT_CHECK_ASSIGN(const double scale, job.call.number("scale", 1.0 / std::sqrt(head)));
  OPWRIGHT_CHECK_ASSIGN(const bool causal, job.call.flag("is_causal_mask", false));
  const Mask mask(job.input("mask"), causal, shape);
  const std::int64_t width = job.rows.length;
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * width));
  if (shape.empty() || dim + 1 == shape.size()) {
    for (std::int64_t r = 0; r < job.rows.count(); ++r) along_row(input, mask, scale, job.rows.at(r), width, exact);
    lose_bits_of_logits(input, scale, job.rows, softmax_budget(job.call, input.spec).relative, true, exact);
    return exact;
  }
  std::int64_t inner = 1;  // rows between two neighbours along `dim`
  for (std::size_t i = dim + 1; i + 1 < shape.size(); ++i) inner *= shape[i];
  const std::int64_t count = shape[dim];
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const std::int64_t first = row / (inner * count) * inner * count + row % inner;
    for (std::int64_t i = 0; i < width; ++i) {
      double largest = -INFINITY;
      for (std::int64_t k = 0; k < count; ++k) largest = std::max(largest, input.at((first + k * inner) * width + i));
      double sum = 0;
      for (std::int64_t k = 0; k < count; ++k) sum += std::exp(input.at((first + k * inner) * width + i) - largest);
      exact.value.push_back(std::exp(input.at(row * width + i) - largest) / sum);
    }
  }
  lose_bits_of_logits(input, scale, job.rows, softmax_budget(job.call, input.spec).relative, false, exact);
  return exact;
}

ErrorBudget softmax_budget(const BoundCall& call, const TensorSpec& input) {
  const ComputeConfig defaults{.approx = true, .fp32_acc = input.dtype.value == DType::kFloat32};
  const ComputeConfig config = compute_argument(call, defaults).value_or(defaults);
  // The approximate exp is a saw-tooth of 3 %, the approximate reciprocal falls short by as much; a bfloat16
  // destination rounds the difference to the largest value, an absolute error in the exponent.
  // Products with the reciprocal of the sum, which is the row's own, lose operand bits.
  const double operands = config.fidelity == Fidelity::kLoFi    ? 0x1p-4
                          : config.fidelity == Fidelity::kHiFi2 ? 0x1p-6
                                                                : 0.0;
  // The sum and its reciprocal are the row's own: real kernels scale rows by 0.95 to 1.012 with both approximate.
  // A bfloat16 sum rounds every 16 terms: it walks away by a quarter of a rounding for the root of their number, of
  // which four deviations are accepted. Sums of long rows are made of blocks, and each is rounded; those along other
  // dimensions are not.
  constexpr double kBlock = 2560;
  const std::size_t dim = softmax_dim(call, input).value_or(0);
  const bool along_rows = input.shape.empty() || dim + 1 == input.shape.size();
  const double terms = input.shape.empty() ? 1.0 : static_cast<double>(input.shape[dim]);
  const double roundings = (along_rows ? std::min(terms, kBlock) : terms) / 16;
  const double walk = 4 * 0.27 * 0x1p-8 * std::sqrt(roundings);
  const double of_blocks = along_rows ? std::min(0.03, 0x1p-8 * std::sqrt(terms / kBlock)) : 0.0;
  const double row_chance = config.fp32_acc ? 0.0 : std::max(0x1p-7, walk) + of_blocks;
  // Where what is added is hardly more than the last place of the sum, all sums of alike terms go wrong alike: by 5 %
  // with 160 roundings. What an approximate exp is allowed has room for that in a block.
  const bool drifts = !config.fp32_acc && (!config.approx || !along_rows);
  const double drift = drifts ? std::min(0.5, 0.06 * std::pow(roundings / 160, 2)) : 0.0;
  const double relative = operands + (config.approx ? 0.07 : 0.0) + (config.fp32_acc ? 0x1p-8 : 0x1p-4) + drift;
  const double common = operands + (config.approx ? 0.06 : 0.0) + 0x1p-7 + row_chance + drift;
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .floor = 0x1p-30,
          .relative = relative,
          .terms = static_cast<std::int64_t>(terms),
          .accumulator_bits = config.fp32_acc ? 24 : 8,
          .common = common,
          .shrinks = 0.75 * operands,
          .row_chance = row_chance,
          .pcc = config.approx ? 0.998 : 0.999,
          .why = config.approx ? "softmax with approximate exp" : "softmax"};
}

}  // namespace opwright

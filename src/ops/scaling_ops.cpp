// Images made larger, and folded: tensors of [images, rows, columns, channels].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/families.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

using Outputs = Checked<std::vector<OutputSpec>>;

struct Scale {
  std::int64_t rows = 1, columns = 1;
  bool bilinear = false;
};

Checked<Scale> scale_of(const BoundCall& call) {
  Scale out;
  OPWRIGHT_CHECK_ASSIGN(const auto factor, call.ints("scale_factor"));
  if (!factor || factor->empty() || factor->size() > 2) return type_error(call.op, "scale_factor", Value());
  out.rows = factor->front();
  out.columns = factor->back();
  OPWRIGHT_REQUIRE(out.rows > 0, "scale_factor_h must be positive, got {}", out.rows);
  OPWRIGHT_REQUIRE(out.columns > 0, "scale_factor_w must be positive, got {}", out.columns);
  OPWRIGHT_CHECK_ASSIGN(const std::string mode, call.text("mode", "nearest"));
  OPWRIGHT_REQUIRE(mode == "nearest" || mode == "bilinear", "mode must be 'nearest' or 'bilinear'");
  out.bilinear = mode == "bilinear";
  return out;
}

Outputs infer_upsample(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const Scale scale, scale_of(call));
  OPWRIGHT_REQUIRE(!on_host(*input) && !deallocated(*input), "upsample expects an allocated device tensor as input");
  const Shape& shape = input->shape;
  OPWRIGHT_REQUIRE(shape.size() >= 4, "ShapeBase[] index out of range. 3 not in [-4, {})", shape.size());
  OPWRIGHT_REQUIRE(shape.size() == 4, "Attempting to reshape between two shapes with different volumes");
  OPWRIGHT_CHECK(require_pages(*input));
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(!scale.bilinear || dtype == DType::kBfloat16 || is_block_float(dtype),
                   "Bilinear upsample requires BFLOAT16 input");
  const MemoryConfig own = memory_of(*input);
  OPWRIGHT_REQUIRE(!tiled(*input) || padded_shape(*input) == shape,
                   "Tiled input must be tile-aligned (no padding difference)");
  OPWRIGHT_REQUIRE(asked == nullptr || !asked->sharded() || own.sharded() || scale.bilinear,
                   "Output memory config is sharded but input memory config is not sharded");
  OPWRIGHT_REQUIRE(scale.bilinear || !tiled(*input) || !own.sharded(),
                   "Unsupported upsample configuration: tiles in shards");
  OPWRIGHT_REQUIRE(!own.sharded() || own.buffer.value == BufferType::kL1,
                   "Only L1 buffers can have an associated circular buffer!");
  const Shape out{shape[0], shape[1] * scale.rows, shape[2] * scale.columns, shape[3]};
  MemoryConfig memory = asked == nullptr ? own : *asked;
  if (own.sharded() && own.shard && (asked == nullptr || !asked->shard)) {
    ShardSpec shard = *own.shard;
    if (own.layout.value != MemoryLayout::kWidthSharded) shard.shape[0] *= scale.rows * scale.columns;
    if (own.layout.value == MemoryLayout::kWidthSharded) shard.shape[0] = out[0] * out[1] * out[2];
    memory = with_shard(own, std::move(shard));
  } else if (scale.bilinear && !own.sharded() && asked == nullptr) {
    // The library spreads rows of pixels over the cores first.
    const std::int64_t pixels = out[0] * out[1] * out[2];
    const std::int64_t held = (shape[0] * shape[1] * shape[2] + board.cores() - 1) / board.cores();
    OPWRIGHT_REQUIRE(!tiled(*input) || held % 32 == 0, "Physical shard shape ({}, {}) must be tile {{32, 32}} sized!",
                     held, shape[3]);
    TensorSpec spread = eltwise::device_tensor({1, 1, pixels, out[3]}, dtype, Layout::kRowMajor, {});
    memory.layout.value = MemoryLayout::kHeightSharded;
    memory.buffer.value = BufferType::kL1;
    memory = with_shard(memory, eltwise::spread_shard(spread, MemoryLayout::kHeightSharded, board));
  }
  TensorSpec spec = moved(*input, out, std::move(memory));
  spec.layout.value = Layout::kRowMajor;
  spec.tile.reset();
  if (is_block_float(dtype)) spec.dtype.value = DType::kBfloat16;
  return made(std::move(spec), board);
}

// Where a pixel of the result lies between those of the input: two neighbours and the part of the second.
struct Between {
  std::int64_t first = 0, second = 0;
  double part = 0;
};
Between between(std::int64_t at, std::int64_t scale, std::int64_t size) {
  const double place = std::max((static_cast<double>(at) + 0.5) / static_cast<double>(scale) - 0.5, 0.0);
  const auto first = std::min(static_cast<std::int64_t>(place), size - 1);
  return {first, std::min(first + 1, size - 1), place - static_cast<double>(first)};
}

Checked<Exact> upsample(const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& shape = input.spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const Scale scale, scale_of(job.call));
  const Shape steps = strides_of(shape);
  std::vector<double> magnitude;
  auto exact = rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    const std::int64_t image = index[0] * steps[0];
    if (!scale.bilinear) {
      append_elements(input, image + index[1] / scale.rows * steps[1] + index[2] / scale.columns * steps[2], shape[3],
                      1, out);
      return;
    }
    const Between row = between(index[1], scale.rows, shape[1]), column = between(index[2], scale.columns, shape[2]);
    for (std::int64_t c = 0; c < shape[3]; ++c) {
      const auto at = [&](std::int64_t y, std::int64_t x) { return input.at(image + y * steps[1] + x * steps[2] + c); };
      const double above = at(row.first, column.first) * (1 - column.part) + at(row.first, column.second) * column.part;
      const double below =
          at(row.second, column.first) * (1 - column.part) + at(row.second, column.second) * column.part;
      out.push_back(above * (1 - row.part) + below * row.part);
      magnitude.push_back(std::abs(at(row.first, column.first)) + std::abs(at(row.first, column.second)) +
                          std::abs(at(row.second, column.first)) + std::abs(at(row.second, column.second)));
    }
  });
  if (exact) exact->magnitude = std::move(magnitude);
  return exact;
}

ErrorBudget upsample_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  const auto scale = scale_of(call);
  if (!scale || !scale->bilinear) return exact_budget(call, outputs, output);
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .relative = 0x1p-8,
          .why = "four neighbours, weighted in bfloat16, modelled"};
}

// --- fold: neighbours become channels

Outputs infer_fold(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t rows, call.integer("stride_h", 1));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t columns, call.integer("stride_w", 1));
  OPWRIGHT_CHECK_ASSIGN(const bool as_transposes, call.flag("use_transpose_as_fold", false));
  OPWRIGHT_CHECK_ASSIGN(const auto padding, call.ints("padding"));
  if (as_transposes) return unsupported("use_transpose_as_fold", "folding by transposes");
  if (padding && std::ranges::any_of(*padding, [](std::int64_t n) { return n != 0; }))
    return unsupported("padding", "folding with padding");
  OPWRIGHT_CHECK(require_on_device(*input));
  const Shape& shape = input->shape;
  OPWRIGHT_REQUIRE(shape.size() == 4, "Fold: Expected a tensor of rank 4, got {}", shape.size());
  OPWRIGHT_REQUIRE(rows > 0 && shape[1] % rows == 0, "Fold: logical H ({}) must be divisible by stride_h ({}).",
                   shape[1], rows);
  OPWRIGHT_REQUIRE(columns > 0 && shape[2] % columns == 0, "Fold: logical W ({}) must be divisible by stride_w ({}).",
                   shape[2], columns);
  OPWRIGHT_CHECK_ASSIGN(const bool collapses, call.flag("collapse_output", false));
  Shape out{shape[0], shape[1] / rows, shape[2] / columns, shape[3] * rows * columns};
  if (collapses) out = {1, 1, out[0] * out[1] * out[2], out[3]};
  MemoryConfig memory = memory_of(*input);
  if (memory.sharded() && memory.shard) {
    ShardSpec shard = *memory.shard;
    shard.shape = {shard.shape[0] / (rows * columns), shard.shape[1] * rows * columns};
    memory = with_shard(memory, std::move(shard));
  }
  TensorSpec spec = moved(*input, out, std::move(memory));
  spec.layout.value = Layout::kRowMajor;
  spec.tile.reset();
  const DType dtype = input->dtype.value;
  if (is_block_float(dtype)) spec.dtype.value = DType::kBfloat16;
  if (tiled(*input) && is_integer(dtype))
    return unsupported("input", "folding tiles of integers, which become BFLOAT16");
  return made(std::move(spec), board);
}

Checked<Exact> fold(const ReferenceJob& job) {
  const HostTensor& input = job.inputs[0];
  const Shape& shape = input.spec.shape;
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t rows, job.call.integer("stride_h", 1));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t columns, job.call.integer("stride_w", 1));
  const Shape steps = strides_of(shape);
  const std::int64_t across = shape[2] / columns, down = shape[1] / rows;
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t pixel = 0;
    for (std::size_t i = 0; i < index.size(); ++i) pixel = pixel * job.outputs[job.output].spec.shape[i] + index[i];
    const std::int64_t start = pixel / (across * down) * steps[0] + pixel / across % down * rows * steps[1] +
                               pixel % across * columns * steps[2];
    for (std::int64_t r = 0; r < rows; ++r) append_elements(input, start + r * steps[1], columns * shape[3], 1, out);
  });
}

}  // namespace

std::span<const OpSpec> scaling_ops() {
  static const std::array list{
      OpSpec{.name = "ttnn.fold",
             .params = {{.name = "input", .era1 = 0, .required = true, .role = Role::kPlain},
                        {.name = "stride_h", .era1 = 1, .required = true},
                        {.name = "stride_w", .era1 = 2, .required = true},
                        {.name = "use_transpose_as_fold", .era1 = 3},
                        {.name = "output_shape", .era1 = 4},
                        {.name = "padding", .era1 = 5, .lost = Lost::kAssumeNone},
                        {.name = "grid_size", .era1 = 6, .lost = Lost::kAssumeNone},
                        {.name = "override_memory_config", .era1 = 7},
                        {.name = "collapse_output"}},
             .infer = infer_fold,
             .reference = fold,
             .budget = exact_budget},
      OpSpec{.name = "ttnn.upsample",
             .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                        {.name = "scale_factor", .era1 = 1, .required = true},
                        {.name = "mode", .era1 = 2},
                        {.name = "memory_config", .era1 = 3},
                        {.name = "compute_kernel_config", .era1 = 4, .lost = Lost::kNoMatter}},
             .infer = infer_upsample,
             .reference = upsample,
             .budget = upsample_budget},
  };
  return list;
}

}  // namespace opwright

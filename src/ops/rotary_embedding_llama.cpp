// ttnn.experimental.rotary_embedding_llama: neighbouring pairs turned, for whole sequences or for one token a user.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"
#include "ops/shared/rotary.h"

namespace opwright {
namespace {

struct Operands {
  const TensorSpec* x = nullptr;
  const TensorSpec* cos = nullptr;
  const TensorSpec* sin = nullptr;
  const TensorSpec* matrix = nullptr;
};

Checked<void> check_matrix(const Operands& operands, bool sharded_matrix) {
  const Shape& shape = operands.matrix->shape;
  OPWRIGHT_CHECK(require_rank(shape, 2));
  OPWRIGHT_REQUIRE(shape[0] == 1 && shape[1] == 1, "Transformation matrix must have 1st & 2nd dim equal to 1");
  const ShardSpec* shard = sharded_matrix ? shard_of(*operands.matrix) : nullptr;
  if (sharded_matrix && (shard == nullptr || shard->shape.size() != 2)) return refuse("bad optional access");
  const std::int64_t height = shard != nullptr ? shard->shape[0] : from_end(shape, 2);
  const std::int64_t width = shard != nullptr ? shard->shape[1] : from_end(shape, 1);
  OPWRIGHT_REQUIRE(width == 32, "Transformation matrix must have 4th dim equal to TILE_WIDTH");
  OPWRIGHT_REQUIRE(height == 32, "Transformation matrix must have 3rd dim equal to TILE_HEIGHT");
  return {};
}

Checked<void> check_decode(const Operands& operands, const Board& board) {
  const Shape& x = operands.x->shape;
  const Shape& cos = operands.cos->shape;
  OPWRIGHT_CHECK(require_rank(x, 1));
  OPWRIGHT_REQUIRE(
      x[0] == 1,
      "rotary_embedding_llama currently only supports sharded inputs in decode mode, and therefore, seq_len "
      "(in dim 0) must be 1.");
  OPWRIGHT_REQUIRE(memory_layout(*operands.x) == MemoryLayout::kHeightSharded,
                   "Sharded inputs for RoPE must be HEIGHT_SHARDED.");
  OPWRIGHT_REQUIRE(memory_layout(*operands.cos) == MemoryLayout::kHeightSharded,
                   "cos tensor for RoPE must be HEIGHT_SHARDED.");
  OPWRIGHT_REQUIRE(memory_layout(*operands.sin) == MemoryLayout::kHeightSharded,
                   "sin tensor for RoPE must be HEIGHT_SHARDED.");
  OPWRIGHT_REQUIRE(memory_layout(*operands.matrix) == MemoryLayout::kHeightSharded,
                   "transformation matrix for RoPE must be HEIGHT_SHARDED.");
  OPWRIGHT_REQUIRE(from_end(x, 1) % 32 == 0, "Head dim must be a multiple of TILE_WIDTH in decode mode");
  OPWRIGHT_CHECK(require_rank(x, 2));
  OPWRIGHT_CHECK(require_rank(cos, 2));
  OPWRIGHT_REQUIRE(x[1] <= board.cores(),
                   "In decode mode, RoPE is parallelized over batch dimension, and therefore, batch size must be less "
                   "than or equal to the number of cores");
  OPWRIGHT_REQUIRE(x[1] == cos[1], "Cos and Sin must have the same batch size as the input");
  const ShardSpec* shard = shard_of(*operands.cos);
  OPWRIGHT_REQUIRE(shard != nullptr && !shard->shape.empty() && shard->shape[0] == 32,
                   "In decode mode, RoPE only supports n_heads (shard_shape[0]) less than equal to TILE_HEIGHT");
  return check_matrix(operands, true);
}

Checked<void> check_prefill(const Operands& operands) {
  const Shape& x = operands.x->shape;
  const Shape& cos = operands.cos->shape;
  OPWRIGHT_REQUIRE(memory_layout(*operands.x) == MemoryLayout::kInterleaved,
                   "Input tensor must be interleaved in prefill mode");
  const auto allowed = [](const TensorSpec& spec) {
    return memory_layout(spec) == MemoryLayout::kInterleaved || memory_layout(spec) == MemoryLayout::kHeightSharded;
  };
  OPWRIGHT_REQUIRE(allowed(*operands.cos), "Cos tensor must be either INTERLEAVED or HEIGHT_SHARDED for prefill RoPE");
  OPWRIGHT_REQUIRE(allowed(*operands.sin), "Sin tensor must be either INTERLEAVED or HEIGHT_SHARDED for prefill RoPE");
  OPWRIGHT_CHECK(require_rank(cos, 1));
  OPWRIGHT_REQUIRE(cos[0] == 1 && from_end(cos, 1) == from_end(x, 1),
                   "Cos dims must match input dims: cos.shape = {}, head_dim = {}", shape_text(cos), from_end(x, 1));
  OPWRIGHT_CHECK(require_rank(cos, 2));
  OPWRIGHT_CHECK(require_rank(x, 2));
  OPWRIGHT_REQUIRE(cos[1] == x[1] || cos[1] == 1,
                   "Num heads in cos/sin must match input tensor num heads or be 1. Expected {}, got {}", x[1], cos[1]);
  OPWRIGHT_REQUIRE(allowed(*operands.matrix),
                   "Transformation matrix must be either INTERLEAVED or HEIGHT_SHARDED for prefill RoPE");
  OPWRIGHT_CHECK(check_matrix(operands, sharded(*operands.matrix)));
  OPWRIGHT_CHECK(require_rank(x, 4));
  OPWRIGHT_REQUIRE(x.size() == 4 && cos.size() == 4, "rotary_embedding_llama takes tensors of rank 4, got {} and {}",
                   shape_text(x), shape_text(cos));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_none(call, {"is_decode_mode"}));
  Operands operands;
  OPWRIGHT_CHECK_ASSIGN(operands.x, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(operands.cos, device_tensor(call, "cos_cache"));
  OPWRIGHT_CHECK_ASSIGN(operands.sin, device_tensor(call, "sin_cache"));
  OPWRIGHT_CHECK_ASSIGN(operands.matrix, device_tensor(call, "trans_mat"));
  OPWRIGHT_CHECK_ASSIGN(const bool decode, call.flag("is_decode_mode", false));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* const asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig compute, compute_argument(call, {}));
  const MemoryConfig out = asked != nullptr ? *asked : memory_of(*operands.x);
  if (out.sharded() && !out.shard && !out.nd_shard) return refuse("bad optional access");
  OPWRIGHT_CHECK_ASSIGN(auto outputs, made(moved(*operands.x, operands.x->shape, out), board));
  OPWRIGHT_REQUIRE(tiled(*operands.x), "input tensor to rotary embedding must be tilized");
  OPWRIGHT_REQUIRE(tiled(*operands.cos), "cos tensor to rotary embedding must be tilized");
  OPWRIGHT_REQUIRE(tiled(*operands.sin), "sin tensor to rotary embedding must be tilized");
  OPWRIGHT_REQUIRE(tiled(*operands.matrix), "transformation matrix to rotary embedding must be tilized");
  const std::int64_t dim = from_end(operands.x->shape, 1);
  OPWRIGHT_REQUIRE(dim <= 128 || !compute.fp32_acc, "If head_dim is > 128, fp32_dest_acc_en must be False");
  OPWRIGHT_REQUIRE(dim <= 256, "Head dim must be less than 256");
  for (const TensorSpec* spec : {operands.x, operands.cos, operands.sin, operands.matrix})
    OPWRIGHT_REQUIRE(spec->dtype.value == DType::kBfloat16, "All input tensors must have dtype = bfloat16");
  OPWRIGHT_REQUIRE(memory_layout(*operands.x) == out.layout.value,
                   "Input tensor and output tensor must have same memory layout");
  OPWRIGHT_REQUIRE(operands.cos->shape == operands.sin->shape, "Cos and Sin dims must match");
  if (decode)
    OPWRIGHT_CHECK(check_decode(operands, board));
  else
    OPWRIGHT_CHECK(check_prefill(operands));
  OPWRIGHT_CHECK(require_pages(*operands.x));
  OPWRIGHT_CHECK(require_pages(*operands.cos));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& x = *job.input("input_tensor");
  const HostTensor& cos = *job.input("cos_cache");
  OPWRIGHT_CHECK_ASSIGN(const bool decode, job.call.flag("is_decode_mode", false));
  const std::int64_t height = from_end(x.spec.shape, 2);
  const std::int64_t known = from_end(cos.spec.shape, 2);
  const std::int64_t heads = from_end(x.spec.shape, 3);
  Exact exact;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    const std::int64_t matrix = row / height;
    std::int64_t angle = -1;
    if (decode)
      angle = matrix % heads * known;  // the first row of each user counts for all its heads
    else if (row % height < known)
      angle = (from_end(cos.spec.shape, 3) == 1 ? 0 : matrix % heads) * known + row % height;
    append_rotary({.x = &x,
                   .x_row = row,
                   .cos = &cos,
                   .sin = job.input("sin_cache"),
                   .angle_row = angle,
                   .matrix = job.input("trans_mat")},
                  job.rows.length, exact);
  }
  return exact;
}

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) { return rotary_budget(); }

bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  const auto decode = call.flag("is_decode_mode", false);
  if (tensor.integer() || param == "input_tensor") return false;
  if (param == "trans_mat")
    fill_rotation(tensor);
  else
    fill_angles(tensor, param == "sin_cache", true, decode && *decode);
  return true;
}

}  // namespace

const OpSpec& rotary_embedding_llama_op() {
  static const OpSpec spec{.name = "ttnn.experimental.rotary_embedding_llama",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "cos_cache", .era1 = 1, .required = true, .role = Role::kCosines},
                                      {.name = "sin_cache", .era1 = 2, .required = true, .role = Role::kSines},
                                      {.name = "trans_mat", .era1 = 3, .required = true, .role = Role::kRotation},
                                      {.name = "is_decode_mode", .era1 = 4},
                                      {.name = "memory_config", .era1 = 5},
                                      {.name = "compute_kernel_config", .era1 = 6}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill};
  return spec;
}

}  // namespace opwright

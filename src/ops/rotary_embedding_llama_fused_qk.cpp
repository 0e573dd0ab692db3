// ttnn.experimental.rotary_embedding_llama_fused_qk: the decode form of rotary_embedding_llama for queries and keys at
// once; cos and sin hold the users of the queries, then those of the keys.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"
#include "ops/shared/rotary.h"

namespace opwright {
namespace {

constexpr std::string_view kOutputs[] = {"q_input_tensor", "k_input_tensor"};

struct Operand {
  std::string_view param;
  std::string_view name;
};
constexpr Operand kOperands[] = {{"q_input_tensor", "Q input tensor"},
                                 {"k_input_tensor", "K input tensor"},
                                 {"cos_cache", "Cos tensor"},
                                 {"sin_cache", "Sin tensor"},
                                 {"trans_mat", "Trans mat tensor"}};

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  std::vector<const TensorSpec*> tensors;
  for (const Operand& operand : kOperands) {
    OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const spec, device_tensor(call, operand.param));
    tensors.push_back(spec);
  }
  OPWRIGHT_CHECK_ASSIGN(const ComputeConfig compute, compute_argument(call, {}));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    OPWRIGHT_REQUIRE(memory_layout(*tensors[i]) == MemoryLayout::kHeightSharded, "{} must be HEIGHT_SHARDED.",
                     kOperands[i].name);
    OPWRIGHT_REQUIRE(tensors[i]->dtype.value == DType::kBfloat16, "{} must be bfloat16", kOperands[i].name);
    const ShardSpec* shard = shard_of(*tensors[i]);
    if (shard == nullptr || shard->shape.size() != 2) return refuse("bad optional access");
  }
  const TensorSpec& q = *tensors[0];
  const TensorSpec& k = *tensors[1];
  const TensorSpec& cos = *tensors[2];
  for (std::size_t i = 0; i < 4; ++i)
    OPWRIGHT_REQUIRE(tensors[i]->layout.value == q.layout.value, "{} must be in layout {}", kOperands[i].name,
                     tensor_layout_text(q));
  for (const TensorSpec* spec : {&q, &k, &cos}) OPWRIGHT_CHECK(require_rank(spec->shape, 2));
  OPWRIGHT_REQUIRE(q.shape[0] == 1 && k.shape[0] == 1,
                   "rotary_embedding_llama_fused_qk currently only supports decode mode with seq_len=1.");
  const std::int64_t dim = from_end(q.shape, 1);
  OPWRIGHT_REQUIRE(dim == from_end(k.shape, 1), "Q input tensor and K input tensor must have same head dimensions");
  OPWRIGHT_REQUIRE(dim <= 128 || !compute.fp32_acc, "If head_dim is > 128, fp32_dest_acc_en must be False");
  if (!tiled(q)) {
    OPWRIGHT_REQUIRE(from_end(q.shape, 2) * dim == 1024, "For row major, Q input tensor must be wrapped to tile size");
    OPWRIGHT_REQUIRE(from_end(k.shape, 2) * dim == 1024, "For row major, K input tensor must be wrapped to tile size");
  }
  OPWRIGHT_REQUIRE(dim % 32 == 0, "Head dim must be a multiple of TILE_WIDTH");
  OPWRIGHT_REQUIRE(q.shape[1] == k.shape[1], "Q and K must have the equal batch size");
  OPWRIGHT_REQUIRE(
      q.shape[1] <= 32,
      "Q and K must have batch size less than or equal to 32, due to parallelization over core-grid of 64");
  const std::vector<CoreRange>& q_grid = shard_of(q)->grid;
  const std::vector<CoreRange>& k_grid = shard_of(k)->grid;
  const std::int64_t cores = core_count(q_grid) + core_count(k_grid);
  OPWRIGHT_REQUIRE(cores <= 64, "Q and K must not exceed max core grid size of 64");
  OPWRIGHT_REQUIRE(!overlap(q_grid, k_grid), "Q and K must not overlap");
  OPWRIGHT_REQUIRE(cos.shape == tensors[3]->shape, "Cos and Sin dims must match");
  OPWRIGHT_REQUIRE(cos.shape[1] == q.shape[1] + k.shape[1],
                   "Cos and Sin are repeated for Q and K, so they must have the same batch size as the sum of Q and K "
                   "batch sizes");
  const TensorSpec& matrix = *tensors[4];
  OPWRIGHT_REQUIRE(tiled(matrix), "transformation matrix must be tilized");
  OPWRIGHT_REQUIRE(core_count(shard_of(matrix)->grid) >= cores,
                   "Transformation matrix is repeated for Q and K must be sharded over core grid of Q and K");
  OPWRIGHT_REQUIRE((shard_of(matrix)->shape == Shape{32, 32}),
                   "Transformation matrix must be sharded to single tile of shape (32, 32)");
  for (const TensorSpec* spec : tensors) OPWRIGHT_CHECK(require_pages(*spec));
  std::vector<OutputSpec> outputs;
  OPWRIGHT_CHECK(add_output(outputs, moved(q, q.shape, memory_of(q)), board));
  OPWRIGHT_CHECK(add_output(outputs, moved(k, k.shape, memory_of(k)), board));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& x = *job.input(kOutputs[job.output]);
  const HostTensor& cos = *job.input("cos_cache");
  const HostTensor& matrix = *job.input("trans_mat");
  if (row_length(matrix.spec.shape) != 32)
    return unsupported("trans_mat", "a matrix narrower than a tile is not modelled");
  const std::int64_t heads = from_end(x.spec.shape, 2);
  const std::int64_t known = from_end(cos.spec.shape, 2);
  const std::int64_t before = job.output == 0 ? 0 : from_end(job.input(kOutputs[0])->spec.shape, 3);
  Exact exact;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t row = job.rows.at(r);
    append_rotary({.x = &x,
                   .x_row = row,
                   .cos = &cos,
                   .sin = job.input("sin_cache"),
                   .angle_row = (before + row / heads) * known,
                   .matrix = &matrix},
                  job.rows.length, exact);
  }
  return exact;
}

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) { return rotary_budget(); }

bool fill(const BoundCall& call, std::size_t slot, Random&, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  if (tensor.integer() || param == kOutputs[0] || param == kOutputs[1]) return false;
  if (param == "trans_mat")
    fill_rotation(tensor);
  else
    fill_angles(tensor, param == "sin_cache", true, true);
  return true;
}

}  // namespace

const OpSpec& rotary_embedding_llama_fused_qk_op() {
  static const OpSpec spec{.name = "ttnn.experimental.rotary_embedding_llama_fused_qk",
                           .params = {{.name = "q_input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "k_input_tensor", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "cos_cache", .era1 = 2, .required = true, .role = Role::kCosines},
                                      {.name = "sin_cache", .era1 = 3, .required = true, .role = Role::kSines},
                                      {.name = "trans_mat", .era1 = 4, .required = true, .role = Role::kRotation},
                                      {.name = "compute_kernel_config", .era1 = 5}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill};
  return spec;
}

}  // namespace opwright

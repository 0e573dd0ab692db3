// ttnn.transformer.scaled_dot_product_attention: every query of a sequence against every key it may see.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_data.h"
#include "ops/shared/attention_prefill.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<void> check_mask(const Prefill& prefill) {
  const TensorSpec& mask = *prefill.mask;
  const Shape& q = prefill.q->shape;
  OPWRIGHT_REQUIRE(tiled(mask), "When mask is provided to SDPA, it must be tilized");
  OPWRIGHT_REQUIRE(is_float16_or_block(mask),
                   "When mask is provided to SDPA, it must be in BF16, BFP8, or BFP4 dataformat");
  OPWRIGHT_REQUIRE(buffer_type(mask) == BufferType::kDram, "When mask is provided to SDPA, it must be in DRAM");
  OPWRIGHT_CHECK(require_rank(mask.shape, 4));
  OPWRIGHT_REQUIRE(
      mask.shape[0] == 1 || mask.shape[0] == q[0],
      "Mask batch dim must either be 1 (to be broadcasted across all batches) or must match Q batch dimension");
  OPWRIGHT_REQUIRE(
      mask.shape[1] == 1 || mask.shape[1] == q[1],
      "Mask num_heads must either be 1 (to be broadcasted across all heads) or must match Q heads dimension");
  OPWRIGHT_REQUIRE(mask.shape[2] == q[2], "Mask sequence length must match Q sequence length");
  OPWRIGHT_REQUIRE(mask.shape[3] == prefill.k->shape[2], "Mask sequence length must match K sequence length");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_unknown(call, {"cu_window_seqlens", "windowed_q_token_offset", "windowed_q_token_offset_tensor",
                                       "output_concat_heads", "attn_mask_block_map"}));
  OPWRIGHT_CHECK_ASSIGN(const Prefill prefill, read_prefill(call));
  OPWRIGHT_CHECK_ASSIGN(auto outputs, prefill_outputs(call, prefill, board));
  OPWRIGHT_CHECK(check_prefill_operands(prefill));
  OPWRIGHT_REQUIRE(!(prefill.causal && prefill.mask != nullptr),
                   "is_causal and attn_mask cannot both be present. Got is_causal: true, attn_mask: true");
  OPWRIGHT_REQUIRE(!(prefill.window > 0 && prefill.mask != nullptr),
                   "sliding_window_size and attn_mask cannot both be present; bake the sliding-window mask into "
                   "attn_mask. Got sliding_window_size: {}, attn_mask: true",
                   prefill.window);
  if (prefill.mask != nullptr) OPWRIGHT_CHECK(check_mask(prefill));
  const Shape& q = prefill.q->shape;
  const Shape& k = prefill.k->shape;
  OPWRIGHT_REQUIRE(!prefill.causal || q[2] == k[2],
                   "Causal SDPA requires Q and K to have the same sequence length. Got Q: {}, K: {}", q[2], k[2]);
  OPWRIGHT_REQUIRE(k[0] == q[0] && prefill.v->shape[0] == q[0], "K and V batch must match. Got K: {}, V: {}", k[0],
                   prefill.v->shape[0]);
  OPWRIGHT_CHECK(check_prefill_heads(prefill));
  OPWRIGHT_CHECK(check_prefill_end(prefill, board));
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) { return prefill_exact(job, 0); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return attention_budget(call); }

bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (call.tensors[slot].param != "attn_mask" || tensor.integer()) return false;
  fill_mask(tensor, random);
  return true;
}

void arrange(const BoundCall& call, std::span<HostTensor> inputs) {
  arrange_attention(call, inputs, [](const ReferenceJob& job) { return prefill_queries(job, 0); });
}

}  // namespace

const OpSpec& scaled_dot_product_attention_op() {
  static const OpSpec spec{.name = "ttnn.transformer.scaled_dot_product_attention",
                           .params = {{.name = "input_tensor_q", .era1 = 0, .required = true, .role = Role::kQueries},
                                      {.name = "input_tensor_k", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor_v", .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = "attn_mask", .era1 = 3, .role = Role::kMask},
                                      {.name = "is_causal", .era1 = 4},
                                      {.name = "scale", .era1 = 5},
                                      {.name = "sliding_window_size", .era1 = 6},
                                      {.name = "memory_config", .era1 = 7},
                                      {.name = "program_config", .era1 = 8, .lost = Lost::kAssumeNone},
                                      {.name = "compute_kernel_config", .era1 = 9, .lost = Lost::kAssumeNone},
                                      {.name = "attention_sink", .era1 = 10, .role = Role::kSinks},
                                      {.name = "cu_window_seqlens"},
                                      {.name = "windowed_q_token_offset"},
                                      {.name = "windowed_q_token_offset_tensor"},
                                      {.name = "output_concat_heads"},
                                      {.name = "attn_mask_block_map"}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill,
                           .arrange = arrange,
                           .work = attention_work};
  return spec;
}

}  // namespace opwright

// ttnn.transformer.scaled_dot_product_attention_decode: one query a user against its cache.
#include "ops/op.h"
#include "ops/shared/attention_decode.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return attention_budget(call); }

}  // namespace

const OpSpec& scaled_dot_product_attention_decode_op() {
  static const OpSpec spec{.name = "ttnn.transformer.scaled_dot_product_attention_decode",
                           .params = {{.name = "input_tensor_q", .era1 = 0, .required = true, .role = Role::kQueries},
                                      {.name = "input_tensor_k", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor_v", .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = "is_causal", .era1 = 3},
                                      {.name = "attn_mask", .era1 = 4, .role = Role::kMask},
                                      {.name = "cur_pos", .era1 = 5, .lost = Lost::kAssumeNone},
                                      {.name = "cur_pos_tensor", .era1 = 6, .role = Role::kPositions},
                                      {.name = "attention_sink", .era1 = 7, .role = Role::kSinks},
                                      {.name = "scale", .era1 = 8},
                                      {.name = "sliding_window_size", .era1 = 9},
                                      {.name = "memory_config", .era1 = 10},
                                      {.name = "program_config", .era1 = 11, .lost = Lost::kAssumeNone},
                                      {.name = "compute_kernel_config", .era1 = 12, .lost = Lost::kAssumeNone},
                                      {.name = "share_cache"}},
                           .infer = infer_decode,
                           .reference = decode_exact,
                           .budget = budget,
                           .fill = fill_decode,
                           .arrange = arrange_decode,
                           .work = attention_work};
  return spec;
}

}  // namespace opwright

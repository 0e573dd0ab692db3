// ttnn.transformer.paged_scaled_dot_product_attention_decode: one query a user against a paged cache.
#include "ops/op.h"
#include "ops/shared/attention_decode.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return attention_budget(call); }

}  // namespace

const OpSpec& paged_scaled_dot_product_attention_decode_op() {
  static const OpSpec spec{.name = "ttnn.transformer.paged_scaled_dot_product_attention_decode",
                           .params = {{.name = "input_tensor_q", .era1 = 0, .required = true, .role = Role::kQueries},
                                      {.name = "input_tensor_k", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor_v", .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = "page_table_tensor", .era1 = 3, .required = true, .role = Role::kPages},
                                      {.name = "is_causal", .era1 = 4},
                                      {.name = "attn_mask", .era1 = 5, .role = Role::kMask},
                                      {.name = "cur_pos_tensor", .era1 = 6, .role = Role::kPositions},
                                      {.name = "attention_sink", .era1 = 7, .role = Role::kSinks},
                                      {.name = "scale", .era1 = 8},
                                      {.name = "sliding_window_size", .era1 = 9},
                                      {.name = "memory_config", .era1 = 10},
                                      {.name = "program_config", .era1 = 11, .lost = Lost::kAssumeNone},
                                      {.name = "compute_kernel_config", .era1 = 12, .lost = Lost::kAssumeNone},
                                      {.name = "paged_cache_geometry"},
                                      {.name = "cache_position_modulo"},
                                      {.name = "spec_multi_pos_tiles"}},
                           .infer = infer_decode,
                           .reference = decode_exact,
                           .budget = budget,
                           .fill = fill_decode,
                           .arrange = arrange_decode,
                           .work = attention_work};
  return spec;
}

}  // namespace opwright

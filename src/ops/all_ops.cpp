#include "ops/all_ops.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "model/op_config.h"
#include "ops/families.h"

namespace opwright {

// Operators with a file of their own: a line here, where it is declared, and one below, sorted.
const OpSpec& all_gather_async_op();
const OpSpec& argmax_op();
const OpSpec& avg_pool2d_op();
const OpSpec& chunked_scaled_dot_product_attention_op();
const OpSpec& clamp_op();
const OpSpec& clone_op();
const OpSpec& concat_op();
const OpSpec& conv2d_op();
const OpSpec& copy_op();
const OpSpec& div_op();
const OpSpec& embedding_op();
const OpSpec& fast_reduce_nc_op();
const OpSpec& fill_cache_op();
const OpSpec& global_avg_pool2d_op();
const OpSpec& group_norm_op();
const OpSpec& interleaved_to_sharded_op();
const OpSpec& layer_norm_op();
const OpSpec& linear_op();
const OpSpec& matmul_op();
const OpSpec& max_pool2d_op();
const OpSpec& nlp_concat_heads_decode_op();
const OpSpec& nlp_concat_heads_op();
const OpSpec& nlp_create_qkv_heads_decode_op();
const OpSpec& nlp_create_qkv_heads_op();
const OpSpec& pad_op();
const OpSpec& paged_fill_cache_op();
const OpSpec& paged_fused_update_cache_op();
const OpSpec& paged_scaled_dot_product_attention_decode_op();
const OpSpec& paged_update_cache_op();
const OpSpec& permute_op();
const OpSpec& plus_one_op();
const OpSpec& pow_op();
const OpSpec& repeat_op();
const OpSpec& reshape_op();
const OpSpec& reshard_op();
const OpSpec& rms_norm_op();
const OpSpec& rms_norm_post_all_gather_op();
const OpSpec& rms_norm_pre_all_gather_op();
const OpSpec& rotary_embedding_llama_fused_qk_op();
const OpSpec& rotary_embedding_llama_op();
const OpSpec& rotary_embedding_op();
const OpSpec& scale_mask_softmax_in_place_op();
const OpSpec& scaled_dot_product_attention_decode_op();
const OpSpec& scaled_dot_product_attention_op();
const OpSpec& sharded_to_interleaved_op();
const OpSpec& sigmoid_op();
const OpSpec& slice_op();
const OpSpec& softmax_in_place_op();
const OpSpec& softmax_op();
const OpSpec& squeeze_op();
const OpSpec& tilize_op();
const OpSpec& tilize_with_val_padding_op();
const OpSpec& tilize_with_zero_padding_op();
const OpSpec& to_layout_op();
const OpSpec& to_memory_config_op();
const OpSpec& topk_op();
const OpSpec& transpose_op();
const OpSpec& typecast_op();
const OpSpec& unsqueeze_op();
const OpSpec& unsqueeze_to_4D_op();
const OpSpec& untilize_op();
const OpSpec& untilize_with_unpadding_op();
const OpSpec& update_cache_op();
const OpSpec& where_op();

std::span<const OpSpec* const> ops_with_files() {
  static const auto list = std::to_array<const OpSpec*>({
      &all_gather_async_op(),
      &argmax_op(),
      &avg_pool2d_op(),
      &chunked_scaled_dot_product_attention_op(),
      &clamp_op(),
      &clone_op(),
      &concat_op(),
      &conv2d_op(),
      &copy_op(),
      &div_op(),
      &embedding_op(),
      &fast_reduce_nc_op(),
      &fill_cache_op(),
      &global_avg_pool2d_op(),
      &group_norm_op(),
      &interleaved_to_sharded_op(),
      &layer_norm_op(),
      &linear_op(),
      &matmul_op(),
      &max_pool2d_op(),
      &nlp_concat_heads_decode_op(),
      &nlp_concat_heads_op(),
      &nlp_create_qkv_heads_decode_op(),
      &nlp_create_qkv_heads_op(),
      &pad_op(),
      &paged_fill_cache_op(),
      &paged_fused_update_cache_op(),
      &paged_scaled_dot_product_attention_decode_op(),
      &paged_update_cache_op(),
      &permute_op(),
      &plus_one_op(),
      &pow_op(),
      &repeat_op(),
      &reshape_op(),
      &reshard_op(),
      &rms_norm_op(),
      &rms_norm_post_all_gather_op(),
      &rms_norm_pre_all_gather_op(),
      &rotary_embedding_llama_fused_qk_op(),
      &rotary_embedding_llama_op(),
      &rotary_embedding_op(),
      &scale_mask_softmax_in_place_op(),
      &scaled_dot_product_attention_decode_op(),
      &scaled_dot_product_attention_op(),
      &sharded_to_interleaved_op(),
      &sigmoid_op(),
      &slice_op(),
      &softmax_in_place_op(),
      &softmax_op(),
      &squeeze_op(),
      &tilize_op(),
      &tilize_with_val_padding_op(),
      &tilize_with_zero_padding_op(),
      &to_layout_op(),
      &to_memory_config_op(),
      &topk_op(),
      &transpose_op(),
      &typecast_op(),
      &unsqueeze_op(),
      &unsqueeze_to_4D_op(),
      &untilize_op(),
      &untilize_with_unpadding_op(),
      &update_cache_op(),
      &where_op(),
  });
  return list;
}

std::span<const OpSpec* const> all_ops() {
  static const auto list = [] {
    const auto alone = ops_with_files();
    std::vector<const OpSpec*> out(alone.begin(), alone.end());
    for (const auto family : {unary_ops(), binary_ops(), reduce_ops(), like_ops(), collective_ops(), heads_ops(),
                              line_ops(), placing_ops(), scaling_ops(), softmax_ops(), ternary_ops()})
      for (const OpSpec& op : family) out.push_back(&op);
    std::ranges::sort(out, {}, [](const OpSpec* op) { return short_name(op->name); });
    return out;
  }();
  return list;
}

const OpSpec* find_op(std::string_view name) {
  static const auto by_name = [] {
    std::map<std::string_view, const OpSpec*> index;
    for (const OpSpec* op : all_ops()) {
      index.emplace(op->name, op);
      for (std::string_view alias : op->aliases) index.emplace(alias, op);
    }
    return index;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace opwright

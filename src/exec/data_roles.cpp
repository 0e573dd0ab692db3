#include "exec/data_roles.h"

#include <algorithm>
#include <array>
#include <string>

namespace opwright {
namespace {

struct RoleWords {
  std::string_view name, about;
};
constexpr std::array kWords{
    RoleWords{"plain", "numbers of the recipe's distribution; integers 0 to 63"},
    RoleWords{"positive", "the same, made positive and at least 0.1"},
    RoleWords{"non-zero", "the same, at least 0.1 away from zero"},
    RoleWords{"coarse", "the same, rounded to halves, so that equal values meet"},
    RoleWords{"near one", "1 + x / 8"},
    RoleWords{"queries", "3 x: few keys count, as in models; the mean over many equal ones would be nearly zero"},
    RoleWords{"ranked",
              "different numbers in random order, 256 down to -256 as bfloat16 holds them, the middle of long rows "
              "nearly 0: what is chosen never depends on the order of equals"},
    RoleWords{"reciprocals", "1, 1/2, 1/3, … along a row"},
    RoleWords{"buffer", "overwritten by the call; noise, so that a place that is never written shows"},
    RoleWords{"token ids", "whole numbers below the rows of the table; below 256 where the dtype is bfloat16"},
    RoleWords{"pages", "a shuffled list of the cache's blocks, each once as long as there are enough"},
    RoleWords{"users", "a shuffled list of the batch, each once as long as there are enough"},
    RoleWords{"positions", "places within the cache, or within the pages of one user"},
    RoleWords{"offsets", "0 to what leaves room for the part that is taken"},
    RoleWords{
        "mask",
        "0, or hidden (minus infinity; a large negative number in block floats and softmax masks) for a quarter of "
        "the places and, in a square or causal mask, for all that is ahead; the first column is always seen"},
    RoleWords{"predicate", "0 or 1, as often"},
    RoleWords{"cosines", "cosines of position x 500000^(-pair / half)"},
    RoleWords{"sines", "sines of the same"},
    RoleWords{"rotation", "the matrix that swaps the members of a pair and turns the sign of one"},
    RoleWords{"indices", "0, 1, 2, … along a row"},
    RoleWords{"bounds", "begin or end of one part of the sliced dimension"},
    RoleWords{"statistics", "about the mean square of a row, in the first column of each tile, 0 elsewhere"},
    RoleWords{"channels",
              "1 where a column of the tile belongs to the group, 0 elsewhere; the negative mask the other way round"},
    RoleWords{"weights", "plain; of laid-out grouped convolutions 0 between the groups"},
};
constexpr auto kRoles = [] {
  std::array<Role, kWords.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Role>(i);
  return out;
}();
static_assert(static_cast<std::size_t>(Role::kWeights) + 1 == kWords.size());

struct Line {
  std::string_view op;
  std::string_view roles;  // "param:role param:role"; blanks in role names are '-'
};
constexpr std::string_view kUnary = "input_tensor:plain output_tensor:buffer";
constexpr std::string_view kPositiveUnary = "input_tensor:positive output_tensor:buffer";
constexpr std::string_view kBinary = "input_tensor_a:plain input_tensor_b:plain output_tensor:buffer";
constexpr std::string_view kInPlace = "input_tensor_a:plain input_tensor_b:plain";
constexpr std::string_view kComparison = "input_tensor_a:coarse input_tensor_b:coarse output_tensor:buffer";
constexpr std::string_view kOne = "input_tensor:plain";
constexpr std::array kLines{
    Line{"ttnn.abs", kUnary},
    Line{"ttnn.add", kBinary},
    Line{"ttnn.add_", kInPlace},
    Line{"ttnn.experimental.all_gather_async",
         "input_tensor:plain persistent_output_buffer:buffer persistent_output_tensor:buffer"},
    Line{"ttnn.argmax", "input_tensor:ranked output_tensor:buffer"},
    Line{"ttnn.avg_pool2d", kOne},
    Line{"ttnn.transformer.chunked_scaled_dot_product_attention",
         "input_tensor_q:queries input_tensor_k:plain input_tensor_v:plain page_table_tensor:pages "
         "chunk_start_idx_tensor:positions attention_sink:plain"},
    Line{"ttnn.clamp", kUnary},
    Line{"ttnn.clone", "input:plain"},
    Line{"ttnn.concat", "tensors:plain output_tensor:buffer"},
    Line{"ttnn.conv2d", "input_tensor:plain weight_tensor:weights bias_tensor:plain"},
    Line{"ttnn.copy", "input_a:plain input_b:buffer"},
    Line{"ttnn.cos", kUnary},
    Line{"ttnn.div", "input_tensor_a:plain input_tensor_b:non-zero output_tensor:buffer"},
    Line{"ttnn.embedding", "input_tensor:token-ids weight:plain output_tensor:buffer"},
    Line{"ttnn.eq", kComparison},
    Line{"ttnn.erf", kUnary},
    Line{"ttnn.exp", kUnary},
    Line{"ttnn.experimental.fast_reduce_nc", "input:plain output:buffer"},
    Line{"ttnn.fill_cache", "cache_tensor:plain input_tensor:plain"},
    Line{"ttnn.ge", kComparison},
    Line{"ttnn.gelu", kUnary},
    Line{"ttnn.global_avg_pool2d", kOne},
    Line{"ttnn.group_norm",
         "input_tensor:plain input_mask:channels weight:near-one bias:plain reciprocals:reciprocals "
         "negative_mask:channels"},
    Line{"ttnn.gt", kComparison},
    Line{"ttnn.interleaved_to_sharded", "input_tensor:plain preallocated_output:buffer"},
    Line{"ttnn.layer_norm",
         "input_tensor:plain weight:near-one bias:plain residual_input_tensor:plain recip_tensor:reciprocals"},
    Line{"ttnn.le", kComparison},
    Line{"ttnn.linear", "input_tensor_a:plain input_tensor_b:plain bias:plain optional_output_tensor:buffer"},
    Line{"ttnn.log", kPositiveUnary},
    Line{"ttnn.lt", kComparison},
    Line{"ttnn.matmul", "input_tensor_a:plain input_tensor_b:plain optional_output_tensor:buffer"},
    Line{"ttnn.max", kOne},
    Line{"ttnn.max_pool2d", kOne},
    Line{"ttnn.maximum", kBinary},
    Line{"ttnn.mean", kOne},
    Line{"ttnn.min", kOne},
    Line{"ttnn.minimum", kBinary},
    Line{"ttnn.multiply", kBinary},
    Line{"ttnn.multiply_", "input_a:plain input_b:plain"},
    Line{"ttnn.ne", kComparison},
    Line{"ttnn.neg", kUnary},
    Line{"ttnn.experimental.nlp_concat_heads_decode", kUnary},
    Line{"ttnn.experimental.nlp_concat_heads", kOne},
    Line{"ttnn.experimental.nlp_create_qkv_heads_decode",
         "input_tensor:plain output_tensors:buffer batch_offset:offsets"},
    Line{"ttnn.experimental.nlp_create_qkv_heads", "input:plain input_kv:plain output_tensors:buffer"},
    Line{"ttnn.pad", kOne},
    Line{"ttnn.experimental.paged_fill_cache",
         "cache_tensor:plain input_tensor:plain page_table:pages batch_idx_tensor:users"},
    Line{"ttnn.experimental.paged_fused_update_cache",
         "cache_tensor1:plain input_tensor1:plain cache_tensor2:plain input_tensor2:plain "
         "update_idxs_tensor:positions page_table:pages"},
    Line{"ttnn.transformer.paged_scaled_dot_product_attention_decode",
         "input_tensor_q:queries input_tensor_k:plain input_tensor_v:plain page_table_tensor:pages "
         "cur_pos_tensor:positions attn_mask:mask attention_sink:plain"},
    Line{"ttnn.experimental.paged_update_cache",
         "cache_tensor:plain input_tensor:plain update_idxs_tensor:positions page_table:pages"},
    Line{"ttnn.permute", kOne},
    Line{"ttnn.plus_one", kOne},
    Line{"ttnn.pow", "input_tensor:positive exponent:plain output_tensor:buffer"},
    Line{"ttnn.reciprocal", "input_tensor:non-zero output_tensor:buffer"},
    Line{"ttnn.relu", kUnary},
    Line{"ttnn.repeat", "input_tensor:plain optional_output_tensor:buffer"},
    Line{"ttnn.reshape", kOne},
    Line{"ttnn.reshard", kUnary},
    Line{"ttnn.rms_norm", "input_tensor:plain weight:near-one bias:plain residual_input_tensor:plain"},
    Line{"ttnn.rms_norm_post_all_gather", "input_tensor:plain stats:statistics weight:near-one bias:plain"},
    Line{"ttnn.rms_norm_pre_all_gather", "input_tensor:plain residual_input_tensor:plain"},
    Line{"ttnn.experimental.rotary_embedding_llama_fused_qk",
         "q_input_tensor:plain k_input_tensor:plain cos_cache:cosines sin_cache:sines trans_mat:rotation"},
    Line{"ttnn.experimental.rotary_embedding_llama",
         "input_tensor:plain cos_cache:cosines sin_cache:sines trans_mat:rotation"},
    Line{"ttnn.experimental.rotary_embedding", "input_tensor:plain cos_cache:cosines sin_cache:sines"},
    Line{"ttnn.rsqrt", kPositiveUnary},
    Line{"ttnn.scale_mask_softmax_in_place", "input_tensor:plain mask:mask"},
    Line{"ttnn.transformer.scaled_dot_product_attention_decode",
         "input_tensor_q:queries input_tensor_k:plain input_tensor_v:plain cur_pos_tensor:positions attn_mask:mask "
         "attention_sink:plain"},
    Line{"ttnn.transformer.scaled_dot_product_attention",
         "input_tensor_q:queries input_tensor_k:plain input_tensor_v:plain attn_mask:mask attention_sink:plain"},
    Line{"ttnn.sharded_to_interleaved", kOne},
    Line{"ttnn.sigmoid", kUnary},
    Line{"ttnn.sigmoid_accurate", kUnary},
    Line{"ttnn.silu", kUnary},
    Line{"ttnn.sin", kUnary},
    Line{"ttnn.slice", "input_tensor:plain starts:bounds ends:bounds output_tensor:buffer"},
    Line{"ttnn.softmax_in_place", kOne},
    Line{"ttnn.softmax", kOne},
    Line{"ttnn.sqrt", kPositiveUnary},
    Line{"ttnn.square", kUnary},
    Line{"ttnn.squeeze", kOne},
    Line{"ttnn.subtract", kBinary},
    Line{"ttnn.subtract_", kInPlace},
    Line{"ttnn.sum", kOne},
    Line{"ttnn.tanh", kUnary},
    Line{"ttnn.tilize", kOne},
    Line{"ttnn.tilize_with_val_padding", kOne},
    Line{"ttnn.tilize_with_zero_padding", kOne},
    Line{"ttnn.to_layout", "tensor:plain"},
    Line{"ttnn.to_memory_config", "tensor:plain output_tensor:buffer"},
    Line{"ttnn.topk", "input_tensor:ranked indices_tensor:indices output_tensor:buffer"},
    Line{"ttnn.transpose", kOne},
    Line{"ttnn.typecast", kUnary},
    Line{"ttnn.unsqueeze", kOne},
    Line{"ttnn.unsqueeze_to_4D", "tensor:plain"},
    Line{"ttnn.untilize", kOne},
    Line{"ttnn.untilize_with_unpadding", kOne},
    Line{"ttnn.update_cache", "cache:plain input:plain"},
    Line{"ttnn.where", "predicate:predicate true_value:plain false_value:plain output_tensor:buffer"},
};

std::optional<Role> parse_role(std::string_view text) {
  for (const Role role : kRoles) {
    std::string name(name_of(role));
    std::ranges::replace(name, ' ', '-');
    if (name == text) return role;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Role role) { return kWords[static_cast<std::size_t>(role)].name; }
std::string_view about(Role role) { return kWords[static_cast<std::size_t>(role)].about; }
std::span<const Role> all_roles() { return kRoles; }

std::vector<ParamRole> roles_of(std::string_view op) {
  std::vector<ParamRole> out;
  const auto line = std::ranges::find(kLines, op, &Line::op);
  if (line == kLines.end()) return out;
  for (std::string_view rest = line->roles; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::size_t colon = rest.find(':');
    if (const auto role = parse_role(rest.substr(colon + 1, end - colon - 1)))
      out.push_back({rest.substr(0, colon), *role});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::optional<Role> role_of(std::string_view op, std::string_view param) {
  for (const ParamRole& known : roles_of(op))
    if (known.param == param) return known.role;
  return std::nullopt;
}

}  // namespace opwright

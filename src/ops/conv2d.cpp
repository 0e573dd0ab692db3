#include <algorithm>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/conv_shards.h"
#include "ops/shared/activation.h"
#include "ops/shared/conv_call.h"
#include "ops/shared/conv_rules.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

// Channels are spread over cores, and each core's share under a row of the window is one partial sum. Where no board is
// known the usual grid stands for it.
std::int64_t channels_of_core(const ConvCall& conv, std::int64_t channels, DType dtype) {
  static const Board board = find_board("n150").value_or(Board{});
  const Spread spread = conv_spread(shape_of(conv), dtype, board).value_or(Spread{});
  const std::int64_t cores = std::clamp<std::int64_t>(spread.channel_cores(), 1, std::max<std::int64_t>(channels, 1));
  return round_up((channels + cores - 1) / cores, 8);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  const auto conv = conv_call(call);
  if (!conv) return {};
  const std::int64_t taps = conv->window.kernel_h * conv->window.kernel_w;
  const std::int64_t channels = conv->prepared ? conv->weight_channels : conv->in_channels / conv->groups;
  const DType dtype = conv_dtype(call).value_or(DType::kBfloat16);
  // Prepared weights of groups are a matrix of blocks, and zeros beside them add no error.
  Contraction c{.terms = taps * conv->in_channels / conv->groups,
                .block = channels_of_core(*conv, channels, dtype) * conv->window.kernel_w,
                .config = conv_compute(call, conv->weight_dtype),
                .a = conv->input->dtype.value,
                .b = conv->weight_dtype,
                .out = dtype};
  if (conv->bias != nullptr) ++c.steps;
  ErrorBudget budget = contraction_budget(c);
  // Few channels lie among zeros, eight together, so that a sum of 16 has fewer terms and there are more sums to round.
  if (channels < 8) {
    const std::int64_t phases = 16 / budget.group;
    const std::int64_t sums = conv->window.kernel_h * ((8 * conv->window.kernel_w + 15) / 16);
    budget.group = std::clamp<std::int64_t>(c.terms / (sums * phases), 1, budget.group);
  }
  // Channels by themselves: the products under a window are added one by one, and each sum is rounded.
  if (conv->groups > 1 && channels == 1) budget.group = 1;
  if (const auto functions = exact_activations(&conv->config.activation, "conv_config"))
    budget.after = after_error(*functions, c.out);
  return budget;
}

}  // namespace

const OpSpec& conv2d_op() {
  static const OpSpec spec{
      .name = "ttnn.conv2d",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "weight_tensor", .era1 = 1, .required = true, .role = Role::kWeights},
                 {.name = "device", .era1 = 2, .lost = Lost::kNoMatter},
                 {.name = "in_channels", .era1 = 3, .required = true},
                 {.name = "out_channels", .era1 = 4, .required = true},
                 {.name = "batch_size", .era1 = 5, .required = true},
                 {.name = "input_height", .era1 = 6, .required = true},
                 {.name = "input_width", .era1 = 7, .required = true},
                 {.name = "kernel_size", .era1 = 8, .required = true},
                 {.name = "stride", .era1 = 9},
                 {.name = "padding", .era1 = 10},
                 {.name = "dilation", .era1 = 11},
                 {.name = "groups", .era1 = 12},
                 {.name = "dtype", .era1 = 13},
                 {.name = "bias_tensor", .era1 = 14, .role = Role::kBias},
                 {.name = "conv_config", .era1 = 15, .lost = Lost::kAssumeNone},
                 {.name = "compute_config", .era1 = 16},
                 {.name = "memory_config", .era1 = 17},
                 {.name = "slice_config", .era1 = 18, .lost = Lost::kAssumeNone},
                 {.name = "return_output_dim", .era1 = 19},
                 {.name = "return_weights_and_bias", .era1 = 20}},
      .infer = infer_conv,
      .reference = conv_reference,
      .budget = budget,
      .fill = fill_conv,
      .work = conv_work,
      .on_whole = OnWhole::kProducts,
      .sum = conv_sum,
  };
  return spec;
}

}  // namespace opwright

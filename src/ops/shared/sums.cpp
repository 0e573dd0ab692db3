#include "ops/shared/sums.h"

#include <algorithm>

#include "ops/shared/conv_call.h"

namespace opwright {

Sum summed(const BoundCall& call, std::string_view input, std::string_view dims) {
  const TensorSpec* spec = call.tensor(input);
  if (spec == nullptr) return {};
  const auto read = call.ints(dims);
  if (!read || !*read) return {.terms = volume(spec->shape)};
  Sum out;
  for (std::int64_t dim : **read) {
    if (dim < 0) dim += static_cast<std::int64_t>(spec->shape.size());
    if (dim >= 0 && dim < static_cast<std::int64_t>(spec->shape.size()))
      out.terms *= spec->shape[static_cast<std::size_t>(dim)];
  }
  return out;
}

Sum matmul_sum(const BoundCall& call) {
  const TensorSpec* a = call.tensor("input_tensor_a");
  if (a == nullptr || a->shape.empty()) return {};
  const bool turned = call.flag("transpose_a", false).value_or(false);
  const bool columns = turned && a->shape.size() > 1;
  return {.terms = a->shape[a->shape.size() - (columns ? 2 : 1)], .along_rows = !turned};
}

Sum conv_sum(const BoundCall& call) {
  const auto conv = conv_call(call);
  if (!conv) return {};
  const std::int64_t channels = conv->in_channels / std::max<std::int64_t>(1, conv->groups);
  return {.terms = conv->window.kernel_h * conv->window.kernel_w * std::max<std::int64_t>(1, channels)};
}

}  // namespace opwright

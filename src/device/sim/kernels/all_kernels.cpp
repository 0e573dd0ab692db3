#include <array>
#include <map>

#include "device/sim/kernel.h"
#include "device/sim/kernels/families.h"

namespace opwright::sim {

// Kernels with a file of their own, called like their operator: a line here and one below, sorted.
extern const Kernel kArgmaxKernel;
extern const Kernel kAvgPool2dKernel;
extern const Kernel kChunkedScaledDotProductAttentionKernel;
extern const Kernel kClampKernel;
extern const Kernel kConcatKernel;
extern const Kernel kConv2dKernel;
extern const Kernel kDivKernel;
extern const Kernel kEmbeddingKernel;
extern const Kernel kFastReduceNcKernel;
extern const Kernel kFillCacheKernel;
extern const Kernel kGlobalAvgPool2dKernel;
extern const Kernel kGroupNormKernel;
extern const Kernel kLayerNormKernel;
extern const Kernel kLinearKernel;
extern const Kernel kMatmulKernel;
extern const Kernel kMaxPool2dKernel;
extern const Kernel kNlpConcatHeadsDecodeKernel;
extern const Kernel kNlpConcatHeadsKernel;
extern const Kernel kNlpCreateQkvHeadsDecodeKernel;
extern const Kernel kNlpCreateQkvHeadsKernel;
extern const Kernel kPadKernel;
extern const Kernel kPagedFillCacheKernel;
extern const Kernel kPagedFusedUpdateCacheKernel;
extern const Kernel kPagedScaledDotProductAttentionDecodeKernel;
extern const Kernel kPagedUpdateCacheKernel;
extern const Kernel kPermuteKernel;
extern const Kernel kPlusOneKernel;
extern const Kernel kPowKernel;
extern const Kernel kRepeatKernel;
extern const Kernel kReshapeKernel;
extern const Kernel kRmsNormKernel;
extern const Kernel kRmsNormPostAllGatherKernel;
extern const Kernel kRmsNormPreAllGatherKernel;
extern const Kernel kRotaryEmbeddingKernel;
extern const Kernel kRotaryEmbeddingLlamaFusedQkKernel;
extern const Kernel kRotaryEmbeddingLlamaKernel;
extern const Kernel kScaleMaskSoftmaxInPlaceKernel;
extern const Kernel kScaledDotProductAttentionDecodeKernel;
extern const Kernel kScaledDotProductAttentionKernel;
extern const Kernel kSliceKernel;
extern const Kernel kSoftmaxInPlaceKernel;
extern const Kernel kSoftmaxKernel;
extern const Kernel kTilizeWithValPaddingKernel;
extern const Kernel kTopkKernel;
extern const Kernel kTransposeKernel;
extern const Kernel kTypecastKernel;
extern const Kernel kUntilizeWithUnpaddingKernel;
extern const Kernel kUpdateCacheKernel;
extern const Kernel kWhereKernel;

std::span<const Kernel* const> all_kernels() {
  static const auto list = std::to_array<const Kernel*>({
      &kArgmaxKernel,
      &kAvgPool2dKernel,
      &kChunkedScaledDotProductAttentionKernel,
      &kClampKernel,
      &kConcatKernel,
      &kConv2dKernel,
      &kDivKernel,
      &kEmbeddingKernel,
      &kFastReduceNcKernel,
      &kFillCacheKernel,
      &kGlobalAvgPool2dKernel,
      &kGroupNormKernel,
      &kLayerNormKernel,
      &kLinearKernel,
      &kMatmulKernel,
      &kMaxPool2dKernel,
      &kNlpConcatHeadsDecodeKernel,
      &kNlpConcatHeadsKernel,
      &kNlpCreateQkvHeadsDecodeKernel,
      &kNlpCreateQkvHeadsKernel,
      &kPadKernel,
      &kPagedFillCacheKernel,
      &kPagedFusedUpdateCacheKernel,
      &kPagedScaledDotProductAttentionDecodeKernel,
      &kPagedUpdateCacheKernel,
      &kPermuteKernel,
      &kPlusOneKernel,
      &kPowKernel,
      &kRepeatKernel,
      &kReshapeKernel,
      &kRmsNormKernel,
      &kRmsNormPostAllGatherKernel,
      &kRmsNormPreAllGatherKernel,
      &kRotaryEmbeddingKernel,
      &kRotaryEmbeddingLlamaFusedQkKernel,
      &kRotaryEmbeddingLlamaKernel,
      &kScaleMaskSoftmaxInPlaceKernel,
      &kScaledDotProductAttentionDecodeKernel,
      &kScaledDotProductAttentionKernel,
      &kSliceKernel,
      &kSoftmaxInPlaceKernel,
      &kSoftmaxKernel,
      &kTilizeWithValPaddingKernel,
      &kTopkKernel,
      &kTransposeKernel,
      &kTypecastKernel,
      &kUntilizeWithUnpaddingKernel,
      &kUpdateCacheKernel,
      &kWhereKernel,
  });
  return list;
}

const Kernel* find_kernel(std::string_view op) {
  static const auto by_name = [] {
    std::map<std::string_view, const Kernel*> index;
    for (const Kernel* kernel : all_kernels()) index.emplace(kernel->op, kernel);
    for (const auto family : {move_kernels(), fill_kernels(), head_kernels(), line_kernels(), placing_kernels(),
                              scaling_kernels(), ternary_kernels()})
      for (const Kernel& kernel : family) index.emplace(kernel.op, &kernel);
    return index;
  }();
  // The softmax of attention is the same kernel under other names.
  if (op == "ttnn.scale_mask_softmax" || op.starts_with("ttnn.transformer.attention_softmax"))
    op = "ttnn.scale_mask_softmax_in_place";
  const auto found = by_name.find(op);
  if (found != by_name.end()) return found->second;
  const Kernel* engine = engine_kernel(op);
  return engine != nullptr ? engine : collective_kernel(op);
}

}  // namespace opwright::sim

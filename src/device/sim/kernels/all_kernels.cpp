#include <array>
#include <map>

#include "device/sim/kernel.h"

namespace opwright::sim {

// One line a kernel, sorted; each is defined in the file of its operator's name.
extern const Kernel kAbsKernel;
extern const Kernel kAddKernel;
extern const Kernel kAddInPlaceKernel;
extern const Kernel kArgmaxKernel;
extern const Kernel kAvgPool2dKernel;
extern const Kernel kChunkedScaledDotProductAttentionKernel;
extern const Kernel kClampKernel;
extern const Kernel kCloneKernel;
extern const Kernel kConcatKernel;
extern const Kernel kConv2dKernel;
extern const Kernel kCopyKernel;
extern const Kernel kCosKernel;
extern const Kernel kDivKernel;
extern const Kernel kEmbeddingKernel;
extern const Kernel kEqKernel;
extern const Kernel kErfKernel;
extern const Kernel kExpKernel;
extern const Kernel kFastReduceNcKernel;
extern const Kernel kFillCacheKernel;
extern const Kernel kGeKernel;
extern const Kernel kGeluKernel;
extern const Kernel kGlobalAvgPool2dKernel;
extern const Kernel kGroupNormKernel;
extern const Kernel kGtKernel;
extern const Kernel kInterleavedToShardedKernel;
extern const Kernel kLayerNormKernel;
extern const Kernel kLeKernel;
extern const Kernel kLinearKernel;
extern const Kernel kLogKernel;
extern const Kernel kLtKernel;
extern const Kernel kMatmulKernel;
extern const Kernel kMaxKernel;
extern const Kernel kMaxPool2dKernel;
extern const Kernel kMaximumKernel;
extern const Kernel kMeanKernel;
extern const Kernel kMinKernel;
extern const Kernel kMinimumKernel;
extern const Kernel kMultiplyKernel;
extern const Kernel kMultiplyInPlaceKernel;
extern const Kernel kNeKernel;
extern const Kernel kNegKernel;
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
extern const Kernel kReciprocalKernel;
extern const Kernel kReluKernel;
extern const Kernel kRepeatKernel;
extern const Kernel kReshapeKernel;
extern const Kernel kReshardKernel;
extern const Kernel kRmsNormKernel;
extern const Kernel kRmsNormPostAllGatherKernel;
extern const Kernel kRmsNormPreAllGatherKernel;
extern const Kernel kRotaryEmbeddingKernel;
extern const Kernel kRotaryEmbeddingLlamaFusedQkKernel;
extern const Kernel kRotaryEmbeddingLlamaKernel;
extern const Kernel kRsqrtKernel;
extern const Kernel kScaleMaskSoftmaxInPlaceKernel;
extern const Kernel kScaledDotProductAttentionDecodeKernel;
extern const Kernel kScaledDotProductAttentionKernel;
extern const Kernel kShardedToInterleavedKernel;
extern const Kernel kSigmoidKernel;
extern const Kernel kSigmoidAccurateKernel;
extern const Kernel kSiluKernel;
extern const Kernel kSinKernel;
extern const Kernel kSliceKernel;
extern const Kernel kSoftmaxInPlaceKernel;
extern const Kernel kSoftmaxKernel;
extern const Kernel kSqrtKernel;
extern const Kernel kSquareKernel;
extern const Kernel kSqueezeKernel;
extern const Kernel kSubtractKernel;
extern const Kernel kSubtractInPlaceKernel;
extern const Kernel kSumKernel;
extern const Kernel kTanhKernel;
extern const Kernel kTilizeKernel;
extern const Kernel kTilizeWithValPaddingKernel;
extern const Kernel kTilizeWithZeroPaddingKernel;
extern const Kernel kToLayoutKernel;
extern const Kernel kToMemoryConfigKernel;
extern const Kernel kTopkKernel;
extern const Kernel kTransposeKernel;
extern const Kernel kTypecastKernel;
extern const Kernel kUnsqueezeKernel;
extern const Kernel kUnsqueezeTo4DKernel;
extern const Kernel kUntilizeKernel;
extern const Kernel kUntilizeWithUnpaddingKernel;
extern const Kernel kUpdateCacheKernel;
extern const Kernel kWhereKernel;

std::span<const Kernel* const> all_kernels() {
  static const auto list = std::to_array<const Kernel*>({
      &kAbsKernel,
      &kAddKernel,
      &kAddInPlaceKernel,
      &kArgmaxKernel,
      &kAvgPool2dKernel,
      &kChunkedScaledDotProductAttentionKernel,
      &kClampKernel,
      &kCloneKernel,
      &kConcatKernel,
      &kConv2dKernel,
      &kCopyKernel,
      &kCosKernel,
      &kDivKernel,
      &kEmbeddingKernel,
      &kEqKernel,
      &kErfKernel,
      &kExpKernel,
      &kFastReduceNcKernel,
      &kFillCacheKernel,
      &kGeKernel,
      &kGeluKernel,
      &kGlobalAvgPool2dKernel,
      &kGroupNormKernel,
      &kGtKernel,
      &kInterleavedToShardedKernel,
      &kLayerNormKernel,
      &kLeKernel,
      &kLinearKernel,
      &kLogKernel,
      &kLtKernel,
      &kMatmulKernel,
      &kMaxKernel,
      &kMaxPool2dKernel,
      &kMaximumKernel,
      &kMeanKernel,
      &kMinKernel,
      &kMinimumKernel,
      &kMultiplyKernel,
      &kMultiplyInPlaceKernel,
      &kNeKernel,
      &kNegKernel,
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
      &kReciprocalKernel,
      &kReluKernel,
      &kRepeatKernel,
      &kReshapeKernel,
      &kReshardKernel,
      &kRmsNormKernel,
      &kRmsNormPostAllGatherKernel,
      &kRmsNormPreAllGatherKernel,
      &kRotaryEmbeddingKernel,
      &kRotaryEmbeddingLlamaFusedQkKernel,
      &kRotaryEmbeddingLlamaKernel,
      &kRsqrtKernel,
      &kScaleMaskSoftmaxInPlaceKernel,
      &kScaledDotProductAttentionDecodeKernel,
      &kScaledDotProductAttentionKernel,
      &kShardedToInterleavedKernel,
      &kSigmoidKernel,
      &kSigmoidAccurateKernel,
      &kSiluKernel,
      &kSinKernel,
      &kSliceKernel,
      &kSoftmaxInPlaceKernel,
      &kSoftmaxKernel,
      &kSqrtKernel,
      &kSquareKernel,
      &kSqueezeKernel,
      &kSubtractKernel,
      &kSubtractInPlaceKernel,
      &kSumKernel,
      &kTanhKernel,
      &kTilizeKernel,
      &kTilizeWithValPaddingKernel,
      &kTilizeWithZeroPaddingKernel,
      &kToLayoutKernel,
      &kToMemoryConfigKernel,
      &kTopkKernel,
      &kTransposeKernel,
      &kTypecastKernel,
      &kUnsqueezeKernel,
      &kUnsqueezeTo4DKernel,
      &kUntilizeKernel,
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
    return index;
  }();
  const auto found = by_name.find(op);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace opwright::sim

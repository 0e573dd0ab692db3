// Calls that give a tensor back with values that it had: moved between host and device, put elsewhere, converted or
// given another shape on the host. Nothing is computed by them on a device, so nobody describes them in ops/.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace opwright {

// Sorted. The values are those of the first tensor of the call, in the shape and dtype of the result.
inline constexpr auto kCarryingCalls = std::to_array<std::string_view>({
    "ttnn.Tensor.cpu",
    "ttnn.Tensor.reshape",
    "ttnn.Tensor.to",
    "ttnn.Tensor.to_device",
    "ttnn.from_device",
    "ttnn.move",
    "ttnn.reallocate",
    "ttnn.to_device",
    "ttnn.to_dtype",
    "ttnn.view",
});

inline bool carries_values(std::string_view operation) { return std::ranges::binary_search(kCarryingCalls, operation); }

// Calls that exchange parts of a tensor between the chips of a mesh and compute nothing else. The part of one chip is
// the first tensor of the call.
enum class Collective : unsigned char { kNone, kGather, kReduceScatter };

struct CollectiveCall {
  std::string_view operation;
  Collective collective;
};
inline constexpr auto kCollectiveCalls = std::to_array<CollectiveCall>({
    {"ttnn.all_gather", Collective::kGather},
    {"ttnn.experimental.all_gather_async", Collective::kGather},
    {"ttnn.experimental.all_gather_async_reversed", Collective::kGather},
    {"ttnn.experimental.high_bw_all_gather", Collective::kGather},
    {"ttnn.experimental.reduce_scatter_minimal_async", Collective::kReduceScatter},
    {"ttnn.experimental.reduce_scatter_minimal_direct", Collective::kReduceScatter},
    {"ttnn.reduce_scatter", Collective::kReduceScatter},
});

inline Collective collective_of(std::string_view operation) {
  const auto found = std::ranges::find(kCollectiveCalls, operation, &CollectiveCall::operation);
  return found == kCollectiveCalls.end() ? Collective::kNone : found->collective;
}

}  // namespace opwright

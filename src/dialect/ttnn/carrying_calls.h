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

}  // namespace opwright

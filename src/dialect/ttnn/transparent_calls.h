// Calls that leave the values of a tensor as they are and run nothing on the device: other names of its shape, and
// calls that give its memory back. Beside calls that carry values between host and device (carrying_calls.h).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace opwright {

// Sorted. No kernel runs: the result lies where the argument does.
inline constexpr auto kShapeNames = std::to_array<std::string_view>({
    "ttnn.experimental.view",
    "ttnn.squeeze",
    "ttnn.unsqueeze",
    "ttnn.unsqueeze_to_4D",
    "ttnn.view",
});
inline constexpr auto kFreeingCalls = std::to_array<std::string_view>({"ttnn.Tensor.deallocate", "ttnn.deallocate"});

inline bool renames_shape(std::string_view operation) { return std::ranges::binary_search(kShapeNames, operation); }
inline bool gives_memory_back(std::string_view operation) {
  return std::ranges::binary_search(kFreeingCalls, operation);
}

}  // namespace opwright

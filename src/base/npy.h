// Arrays as .npy files, which numpy reads (and maps) without a copy: a short header, then the elements as they lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace opwright {

// The header of format version 1.0, for elements in row-major order. `type` as numpy spells it: "<f4", "<i8".
// Its length is a multiple of 64, so that the elements are aligned.
std::string npy_header(std::string_view type, std::span<const std::int64_t> shape);

}  // namespace opwright

// Configurations, forms and the rows that hold many of them are grouped by 64 neighbouring numbers.
#pragma once

#include <cstdint>

namespace opwright::store {

inline constexpr int kRangeBits = 6;

constexpr std::int64_t range_group(std::int64_t number) { return number >> kRangeBits; }
constexpr std::int64_t first_of_range(std::int64_t group) { return group << kRangeBits; }

}  // namespace opwright::store

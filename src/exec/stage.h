// Where a worker is in its case: a death or a time-out belongs to that part.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace opwright {

enum class Stage : std::uint8_t { kStart, kPlan, kDevice, kReference, kEnd };
std::string_view name_of(Stage stage);  // "start", "plan", "device", "reference", "end"
std::optional<Stage> parse_stage(std::string_view name);

}  // namespace opwright

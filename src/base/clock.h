// The time of day for records.
#pragma once

#include <string>

namespace opwright {

std::string utc_now();  // "2026-11-15T20:09:21.123Z"

}  // namespace opwright

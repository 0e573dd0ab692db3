#include "base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace opwright {

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds % 1000);
}

}  // namespace opwright

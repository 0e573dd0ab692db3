// One oracle case with numbers: is the device as accurate as the real kernels, no worse and not suspiciously better?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exec/oracle.h"

namespace opwright {

struct ValueFinding {
  enum class Grade : std::uint8_t { kExact, kWithin, kBeyond } grade = Grade::kBeyond;
  std::int64_t elements = 0;
  std::int64_t exact_elements = 0;  // equal to the real kernel's, bit for bit
  std::string skipped;              // why nothing was compared
  std::string text;
};

ValueFinding judge_values(const OracleCase& oracle, std::string_view device);

}  // namespace opwright

// Messages that differ only in numbers are one failure: "PCC 0.9968 is below 0.99" and "PCC 0.97 is below 0.99".
#pragma once

#include <string>
#include <string_view>

namespace opwright {

// Numbers become N, lists of them and 32x64 become a shape [N…], addresses 0x…, long hexadecimal words #. Digits inside
// a word (conv2d, bfloat8_b, L1) stay. White space is one blank; what stands behind "backtrace:" is left out.
std::string message_pattern(std::string_view message);

}  // namespace opwright

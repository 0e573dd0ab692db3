// The simulated n150 with one fault in it, which is data: what it does wrong, and for which calls. It shows whether a
// failure is followed to its cause. Device name:
//   planted:wrong if ttnn.matmul and input_tensor_a[-1] > 2048
//   planted:crash if ttnn.add and input_tensor_a.layout = ROW_MAJOR
//   planted:wrong if ttnn.relu after ttnn.add and input_tensor_b.dtype = BFLOAT8_B     (an earlier call of the process)
//   planted:wrong if ttnn.relu and input_tensor.value > 2     (some number of that input)
// Effects: wrong (all values), tail (the last value alone), refuse (in words of its own), throw, crash, hang.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/device.h"

namespace opwright {

bool is_planted_device(std::string_view name);
Result<std::unique_ptr<Device>> open_planted_device(std::string_view name);

}  // namespace opwright

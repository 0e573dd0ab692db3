#include "device/null/null_device.h"

namespace opwright {

NullDevice::NullDevice(Board board) { can_ = {.name = "null", .numerics = Numerics::kNone, .board = std::move(board)}; }

Checked<MemoryReport> NullDevice::admit(const DeviceCall&) { return MemoryReport{}; }

Checked<DeviceResult> NullDevice::run(const DeviceCall&, std::span<const HostTensor>) { return DeviceResult{}; }

}  // namespace opwright

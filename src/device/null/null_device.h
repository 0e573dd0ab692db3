// A device that accepts everything and computes nothing: for measuring what stands around a device, and to be copied.
#pragma once

#include "device/device.h"

namespace opwright {

class NullDevice : public Device {
 public:
  explicit NullDevice(Board board);
  const Capabilities& can() const override { return can_; }
  Checked<MemoryReport> admit(const DeviceCall& call) override;
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override;

 private:
  Capabilities can_;
};

}  // namespace opwright

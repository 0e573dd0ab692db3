// A Tenstorrent device in software: its memories with an allocator, its kernels with their roundings.
#pragma once

#include "device/device.h"

namespace opwright::sim {

class SimDevice : public Device {
 public:
  explicit SimDevice(Board board);
  const Capabilities& can() const override { return can_; }
  Checked<MemoryReport> admit(const DeviceCall& call) override;
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override;

 private:
  Capabilities can_;
};

}  // namespace opwright::sim

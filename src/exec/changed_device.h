// For tests: another device whose outputs are changed before anybody sees them.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "device/device.h"

namespace opwright {

class ChangedDevice : public Device {
 public:
  ChangedDevice(Device& right, std::function<void(std::vector<float>&)> change)
      : right_(right), change_(std::move(change)) {}
  const Capabilities& can() const override { return right_.can(); }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return right_.admit(call); }
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    auto result = right_.run(call, inputs);
    for (HostTensor& output : result->outputs) change_(output.floats);
    return result;
  }

 private:
  Device& right_;
  std::function<void(std::vector<float>&)> change_;
};

}  // namespace opwright

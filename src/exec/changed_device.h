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
  using ChangeOutputs = std::function<void(std::vector<HostTensor>& outputs, std::span<const HostTensor> inputs)>;

  ChangedDevice(Device& right, std::function<void(std::vector<float>&)> change)
      : ChangedDevice(right, ChangeOutputs([change = std::move(change)](auto& outputs, auto) {
                        for (HostTensor& output : outputs) change(output.floats);
                      })) {}
  ChangedDevice(Device& right, ChangeOutputs change) : right_(right), change_(std::move(change)) {}
  const Capabilities& can() const override { return right_.can(); }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return right_.admit(call); }
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    auto result = right_.run(call, inputs);
    change_(result->outputs, inputs);
    return result;
  }

 private:
  Device& right_;
  ChangeOutputs change_;
};

}  // namespace opwright

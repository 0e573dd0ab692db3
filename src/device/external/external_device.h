// A device that is a program of its own. It is started when the device is opened, and again after it died or spoke
// garbage: one bad call costs one answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "device/external/device_folder.h"
#include "device/external/device_program.h"
#include "device/external/messages.h"
#include "device/external/program_process.h"
#include "device/external/shared_data.h"

namespace opwright {

struct ProgramLimits {
  double hello_seconds = kHelloSeconds;  // libraries load and boards open before it
  double end_seconds = 30;               // to give a board back; a program that takes longer is killed
  // Told before the program is started (true) and when it has said hello, or will not (false): that time is the
  // device's, no matter which call waits for it.
  std::function<void(bool)> on_start = [](bool) {};

  static constexpr double kHelloSeconds = 180;
};

class ExternalDevice : public Device {
 public:
  // Starts the program and reads its hello.
  static Result<std::unique_ptr<ExternalDevice>> open(DeviceProgram program, ProgramLimits limits = {});
  ~ExternalDevice() override;

  const Capabilities& can() const override { return can_; }
  // Asks for the call without data.
  Checked<MemoryReport> admit(const DeviceCall& call) override;
  // Data goes along when the device has numerics and inputs are given; values come back for call.outputs, unless the
  // device says that it made others (DeviceResult::reported tells).
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override;
  // A device that does not say that it times calls is asked to repeat one, which every device may do.
  Checked<TimedRun> time(const DeviceCall& call, std::span<const HostTensor> inputs, const TimingOrder& order) override;
  const DeviceFailure* failure() const override { return failure_ ? &*failure_ : nullptr; }
  std::optional<DeviceFailure> settle() override;

 private:
  ExternalDevice(DeviceProgram program, ProgramLimits limits)
      : program_(std::move(program)), limits_(std::move(limits)) {}
  Status start();
  Status greet();
  // `timing`: the times that are asked for; null: none.
  Checked<DeviceAnswer> ask(const DeviceCall& call, const SharedData* data, const TimingOrder* timing = nullptr);
  Checked<bool> send(const DeviceCall& call, std::span<const HostTensor> inputs);
  Checked<DeviceResult> take(const DeviceCall& call, DeviceAnswer answer, bool with_data);
  tl::unexpected<Refusal> failed(Outcome outcome, std::string message, bool own_fault = false);
  tl::unexpected<Refusal> broken(std::string problem, std::string_view when = "without an answer");
  std::string with_tail(std::string message) const;

  DeviceProgram program_;
  ProgramLimits limits_;
  Capabilities can_;
  std::optional<DeviceFolder> folder_;  // of its files, made anew with each process
  std::optional<ProgramProcess> process_;
  SharedData data_;
  std::optional<DeviceFailure> failure_;
  std::int64_t next_id_ = 1;
};

}  // namespace opwright

// Devices that are programs, by their names: `ttnn` (the real library on whatever the environment
// selects), `ttnn:mock:BOARD` (without hardware) and `exec:COMMAND…` (any program that speaks the device protocol).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"
#include "device/external/device_program.h"
#include "device/external/external_device.h"

namespace opwright::jobs {

bool is_device_program(std::string_view device);
// Whether there is such a device, before anything is run on it; of a program only the spelling can be known. "": none.
Status check_device_name(const std::string& device);

// How to start it. `python` names one that has ttnn; "": $OPWRIGHT_TTNN_PYTHON, else the first of python3.12,
// python3.10, python3 and python that has ttnn. The error says how to get one.
Result<DeviceProgram> device_program(const std::string& device, const std::string& python = "");

// What only devices that are programs need.
struct ProgramSettings {
  std::string python;  // as of device_program
  double start_seconds = ProgramLimits::kHelloSeconds;
};

// "5", "0.5": for a device's program to say hello.
Result<double> parse_start_seconds(const std::string& text);

// Any device: one of this process (open_device), or a program.
Result<std::unique_ptr<Device>> open_any_device(const std::string& device, const ProgramSettings& settings);

}  // namespace opwright::jobs

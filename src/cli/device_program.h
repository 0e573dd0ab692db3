// Devices that are programs, by their names on the command line: `ttnn` (the real library on whatever the environment
// selects), `ttnn:mock:BOARD` (without hardware) and `exec:COMMAND…` (any program that speaks the device protocol).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "device/device.h"
#include "device/external/device_program.h"

namespace opwright::cli {

inline constexpr Flag kPythonFlag{"--python", "PATH",
                                  "of device ttnn: the Python that has it (default $OPWRIGHT_TTNN_PYTHON, else found)"};

inline constexpr Flag kStartTimeoutFlag{"--start-timeout", "SECONDS",
                                        "for a device's program to say hello (default 180)"};
// What the flag says; the usual time where it was not given.
Result<double> start_seconds_of(const ParsedArgs& args);

bool is_device_program(std::string_view device);

// How to start it. `python` is what --python names; "": $OPWRIGHT_TTNN_PYTHON, else the first of python3.12,
// python3.10, python3 and python that has ttnn. The error says how to get one.
Result<DeviceProgram> device_program(const std::string& device, const std::string& python = "");

// Any device: one of this process (open_device), or a program, which the flags --python and --start-timeout are for.
Result<std::unique_ptr<Device>> open_any_device(const std::string& device, const ParsedArgs& args);

}  // namespace opwright::cli

// The flags of devices that are programs.
#pragma once

#include "cli/command.h"
#include "jobs/device_program.h"

namespace opwright::cli {

inline constexpr Flag kPythonFlag{"--python", "PATH",
                                  "of device ttnn: the Python that has it (default $OPWRIGHT_TTNN_PYTHON, else found)"};

inline constexpr Flag kStartTimeoutFlag{"--start-timeout", "SECONDS",
                                        "for a device's program to say hello (default 180)"};

Result<jobs::ProgramSettings> program_settings_of(const ParsedArgs& args);

}  // namespace opwright::cli

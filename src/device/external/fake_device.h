// The device program of the tests (tests/e2e/programs/fake_device.py). For tests only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "device/external/external_device.h"

namespace opwright {

inline DeviceProgram fake_device(const std::vector<std::string>& options = {}) {
  DeviceProgram program{.name = "fake",
                        .argv = {"python3", OPWRIGHT_SOURCE_DIR "/tests/e2e/programs/fake_device.py"},
                        .environment = process_environment()};
  program.argv.insert(program.argv.end(), options.begin(), options.end());
  return program;
}

}  // namespace opwright

// The device program of the tests (tests/e2e/programs/fake_device.py). For tests only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "device/external/external_device.h"

namespace opwright {

inline DeviceProgram fake_device(const std::vector<std::string>& options = {}) {
  const std::filesystem::path here(__FILE__);  // src/device/external/fake_device.h
  const auto root = here.parent_path().parent_path().parent_path().parent_path();
  DeviceProgram program{.name = "fake",
                        .argv = {"python3", (root / "tests/e2e/programs/fake_device.py").string()},
                        .environment = process_environment()};
  program.argv.insert(program.argv.end(), options.begin(), options.end());
  return program;
}

}  // namespace opwright

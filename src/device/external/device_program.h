// A device that is a program of its own: how to start it. The protocol: docs/formats/device-protocol.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace opwright {

struct DeviceProgram {
  std::string name;                      // as on the command line: "ttnn:mock:n150"
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::shared_ptr<void> files;           // files that it needs (a mock board's) live as long as this
};

}  // namespace opwright

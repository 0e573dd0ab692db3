// Everything that lets the real ttnn library run without hardware: a folder of files and the variables that name them.
//
// The library's root is no variable of the program: programs read TT_METAL_RUNTIME_ROOT as the root of their own
// repository. Our Python package tells the library when it is imported (python/opwright/_mock.py).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/boards.h"
#include "launch/environment.h"
#include "launch/python_probe.h"
#include "launch/temp_folder.h"

namespace opwright::launch {

inline constexpr int kFabricMinor = 75;  // ttnn 0.75 is the first whose mock chips make a mesh with a fabric

struct MockFile {
  std::string path;
  std::string what;
};

struct MockOptions {
  std::string compiler;  // the program that is the kernel compiler when started as one; "": found
  bool keep = false;     // leave the folder on disk
  // Puts the root into TT_METAL_RUNTIME_ROOT: for programs that are no Python, or one that does not load our package.
  bool export_root = false;
  bool stub_device_trace = false;  // stand-ins for begin_trace_capture and its companions
};

// Calls of the functions of device traces, which the mock device does not have.
struct DeviceTraceCalls {
  std::int64_t captured = 0, replayed = 0, released = 0;  // by the stand-ins
  std::int64_t asked_for = 0;                             // begin_trace_capture without them
};

class MockSetup {
 public:
  // Makes the folder and the environment: what the user has set stays, except what the mock device cannot do without.
  static Result<MockSetup> make(const Board& board, const PythonProbe& python, Environment inherited,
                                const MockOptions& options = {});

  const Environment& environment() const { return environment_; }
  const std::string& folder() const { return folder_.path(); }
  const std::vector<MockFile>& files() const { return files_; }
  // What all processes of the program have called so far.
  DeviceTraceCalls device_trace_calls() const;

 private:
  MockSetup(TempFolder folder, Environment environment)
      : folder_(std::move(folder)), environment_(std::move(environment)) {}
  TempFolder folder_;
  Environment environment_;
  std::vector<MockFile> files_;
};

}  // namespace opwright::launch

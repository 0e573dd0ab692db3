// Everything that lets the real ttnn library run without hardware: a folder of files and the variables that name them.
#pragma once

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
};

class MockSetup {
 public:
  // Makes the folder and the environment: what the user has set stays, except what the mock device cannot do without.
  static Result<MockSetup> make(const Board& board, const PythonProbe& python, Environment inherited,
                                const MockOptions& options = {});

  const Environment& environment() const { return environment_; }
  const std::string& folder() const { return folder_.path(); }
  const std::vector<MockFile>& files() const { return files_; }

 private:
  MockSetup(TempFolder folder, Environment environment)
      : folder_(std::move(folder)), environment_(std::move(environment)) {}
  TempFolder folder_;
  Environment environment_;
  std::vector<MockFile> files_;
};

}  // namespace opwright::launch

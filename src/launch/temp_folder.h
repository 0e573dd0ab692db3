// A folder of its own for one run, removed with everything in it when the run is over.
#pragma once

#include <string>

#include "base/result.h"

namespace opwright::launch {

class TempFolder {
 public:
  // In $TMPDIR, else /tmp; its name begins with `prefix`. First removes folders of the same prefix that a killed run
  // left behind: a run holds a lock in its folder, which the kernel drops with its last process.
  static Result<TempFolder> make(const std::string& prefix);
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&& other) noexcept;
  ~TempFolder();

  const std::string& path() const { return path_; }
  // Leaves it on disk at the end.
  void keep() { kept_ = true; }

 private:
  TempFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
  bool kept_ = false;
};

}  // namespace opwright::launch

// The folder that `fuse make` fills: refused where somebody else has something in it, never overwritten where somebody
// changed it, and gone on with where it is our own.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright::jobs {

class FuseFolder {
 public:
  // New, empty, or made by us for a test of that name. Fails with kUsage where other files lie in it.
  static Result<FuseFolder> open(const std::string& path, const std::string& name);

  // Whole or not at all. Fails with kUsage where the file is there and is not as we wrote it.
  Status write(const std::string& file, std::string_view content);
  // What we wrote there before, unchanged; nothing where it is not there or was changed.
  bool read(const std::string& file, std::string& content) const;
  const std::string& path() const { return path_; }

 private:
  FuseFolder(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}
  Status keep_list();

  std::string path_, name_;
  std::map<std::string, std::string> written_;  // file -> hash of what we wrote
};

}  // namespace opwright::jobs

// A file that is either there whole or not at all, written piece by piece: a temporary beside it, flushed, then
// renamed.
//
//   OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
//   for (…) OPWRIGHT_TRY(file.append(line));
//   return file.commit();                       // without it nothing was changed
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright {

class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  // what was not committed goes away

  Status append(std::string_view text);
  Status commit();
  std::size_t bytes() const { return bytes_; }

 private:
  AtomicFile() = default;
  Status flush();
  tl::unexpected<Error> failed(const char* what);

  std::string path_, temporary_;
  bool special_ = false;  // a device or pipe cannot be renamed over
  int fd_ = -1;
  std::size_t bytes_ = 0;
  std::string buffer_;
};

}  // namespace opwright

// A file that is either there whole or not at all, written piece by piece: a temporary beside it, flushed, then
// renamed.
//
// The temporary is new and ours alone: its name is random, and a file or link that already has it is never opened.
// A file that was there keeps its permissions.
//
//   OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
//   for (…) OPWRIGHT_TRY(file.append(line));
//   return file.commit();                       // without it nothing was changed
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright {

// What happens to a link that has the file's name.
enum class Links {
  kFollow,   // the user named it: the link stays, what it leads to is replaced (not through links that others planted)
  kReplace,  // we named it, in a folder that anybody may have filled: the file takes the place of the link
};

class AtomicFile {
 public:
  // `mode`: of a file that was not there, less the umask.
  static Result<AtomicFile> create(const std::string& path, Links links = Links::kFollow, mode_t mode = 0666);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  // what was not committed goes away

  Status append(std::string_view text);
  // Replaces the first bytes, which were appended before. Not of a pipe.
  Status overwrite_front(std::string_view text);
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

// A whole file under a name of ours in a folder that may hold anything: a link there is replaced, not followed.
Status write_into(const std::string& folder, const std::string& name, std::string_view content);

}  // namespace opwright

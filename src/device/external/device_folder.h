// The folder in which a device program hands files to us. We make it, for this user alone, and name it to the program;
// nothing outside is read or removed because a device said so.
//
//   OPWRIGHT_TRY_ASSIGN(DeviceFolder folder, DeviceFolder::make());   // … its path goes out with the request
//   auto bytes = folder.take(answer.trace);                           // an error says what the device did wrong
//
// Ownership: the folder goes with the object, whatever lies in it. One whose process was killed goes when the next is
// made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright {

class DeviceFolder {
 public:
  static Result<DeviceFolder> make();
  DeviceFolder(DeviceFolder&& other) noexcept;
  DeviceFolder& operator=(DeviceFolder&&) = delete;
  ~DeviceFolder();

  const std::string& path() const { return path_; }

  // The content of a file that the device names: a name, or path() and a name. It must be a regular file directly in
  // the folder, with no other link to it, of at most `most` bytes. The name is removed from the folder. The bytes are a
  // copy: what the device does to the file afterwards changes nothing.
  Result<std::string> take(std::string_view named, std::size_t most = kMostBytes) const;

  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

 private:
  DeviceFolder() = default;
  int folder_ = -1;
  std::string path_;
};

// Removes the folder at `path` and all that lies in it. No link is followed, at any depth.
void remove_folder(const std::string& path);

}  // namespace opwright

#include "device/external/device_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/input.h"
#include "base/process_identity.h"

namespace opwright {
namespace {

constexpr std::string_view kPrefix = "opwright-device-";
constexpr std::size_t kShownName = 120;

// A path of a device, for a message: short, and without what would move a cursor.
std::string shown(std::string_view named) {
  std::string out(named.substr(0, kShownName));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out + (named.size() > kShownName ? "…" : "");
}

std::string_view kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a link";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device file";
}

class Open {  // closed at the end
 public:
  explicit Open(int descriptor) : descriptor_(descriptor) {}
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool good() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy < 0 ? nullptr : fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) close(copy);
    return names;
  }
  while (const dirent* entry = readdir(listing))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  closedir(listing);
  return names;
}

// A subfolder, opened even where its owner took the right to look into it.
int open_subfolder(int folder, const std::string& name) {
  const Open found(openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!found.good()) return -1;
  const std::string again = fmt::format("/proc/self/fd/{}", found.get());
  (void)chmod(again.c_str(), S_IRWXU);  // by the descriptor: the name may be another thing by now
  return open(again.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// Empties it. What lies deeper is moved up first, so that no depth needs more than two descriptors.
void empty_folder(int folder) {
  std::size_t moved = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::string& name : names_in(folder)) {
      if (unlinkat(folder, name.c_str(), 0) == 0 || unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) {
        progress = true;
        continue;
      }
      const Open inner(open_subfolder(folder, name));
      if (!inner.good()) continue;
      for (const std::string& below : names_in(inner.get())) {
        if (unlinkat(inner.get(), below.c_str(), 0) == 0) {
          progress = true;
          continue;
        }
        const std::string up = fmt::format("{}.{}", getpid(), moved++);
        progress = renameat(inner.get(), below.c_str(), folder, up.c_str()) == 0 || progress;
      }
      progress = unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || progress;
    }
  }
}

// Folders of processes that were killed. Only our own, of this container, are looked at.
void remove_left_behind(const std::string& place) {
  const Open folder(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.good()) return;
  for (const std::string& name : names_in(folder.get())) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view text = std::string_view(name).substr(kPrefix.size());
    const auto owner = parse_identity(text.substr(0, text.rfind('.')));
    struct stat info{};
    if (!owner || life_of(*owner) != Life::kGone ||
        fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != geteuid())
      continue;
    remove_folder(place + "/" + name);
  }
}

std::string place_for_folders() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given == '/' ? given : "/tmp";
}

}  // namespace

void remove_folder(const std::string& path) {
  const Open folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.good()) return;
  empty_folder(folder.get());
  (void)rmdir(path.c_str());
}

Result<DeviceFolder> DeviceFolder::make() {
  const std::string place = place_for_folders();
  remove_left_behind(place);
  std::string path = fmt::format("{}/{}{}.XXXXXX", place, kPrefix, to_text(own_identity()));
  const auto failed = [&] {
    return fail(ErrorCode::kIo,
                fmt::format("{}: cannot make a folder for files of a device: {}", place, system_message(errno)));
  };
  if (mkdtemp(path.data()) == nullptr) return failed();  // 0700, and new
  DeviceFolder made;
  made.folder_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (made.folder_ < 0) return failed();
  made.path_ = std::move(path);
  return made;
}

DeviceFolder::DeviceFolder(DeviceFolder&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)), path_(std::exchange(other.path_, "")) {}

DeviceFolder::~DeviceFolder() {
  if (folder_ < 0) return;
  empty_folder(folder_);
  close(folder_);
  (void)rmdir(path_.c_str());
}

Result<std::string> DeviceFolder::take(std::string_view named, std::size_t most) const {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput,
                fmt::format("the device named a file that is not its own to give: {}: {}", shown(named), what));
  };
  std::string_view name = named;
  if (name.starts_with(path_ + "/")) name.remove_prefix(path_.size() + 1);
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos)
    return wrong(fmt::format("it does not lie in the folder that it was given, {}", path_));
  const std::string file(name);
  // A descriptor that stands for the thing itself: nothing is opened before it is known to be a plain file.
  const Open found(openat(folder_, file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!found.good()) return wrong(system_message(errno));
  struct stat info{};
  if (fstat(found.get(), &info) != 0) return wrong(system_message(errno));
  if (!S_ISREG(info.st_mode)) return wrong(fmt::format("it is {}, no plain file", kind_of(info.st_mode)));
  if (info.st_nlink > 1) return wrong(fmt::format("it is a file of {} names", info.st_nlink));
  if (info.st_nlink == 0) return wrong("it is gone already");
  if (static_cast<std::size_t>(info.st_size) > most)
    return wrong(fmt::format("it has {} bytes, at most {} are taken", info.st_size, most));
  const Open content(open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!content.good()) return wrong(system_message(errno));
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(content.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return wrong(system_message(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  (void)unlinkat(folder_, file.c_str(), 0);
  if (done < bytes.size())
    return wrong(fmt::format("it shrank from {} to {} bytes while it was read", bytes.size(), done));
  return bytes;
}

}  // namespace opwright

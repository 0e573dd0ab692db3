#include "format/folder_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/limits.h"

namespace opwright::format {

namespace fs = std::filesystem;

namespace {

std::string_view skipped_kind(fs::file_type type, bool is_link) {
  switch (type) {
    case fs::file_type::directory:
      return is_link ? "links to folders" : "";
    case fs::file_type::regular:
      return "";
    case fs::file_type::fifo:
      return "FIFOs";
    case fs::file_type::socket:
      return "sockets";
    case fs::file_type::block:
    case fs::file_type::character:
      return "devices";
    case fs::file_type::not_found:
      return is_link ? "links that lead nowhere" : "files that are gone";
    default:
      return is_link ? "links that lead nowhere" : "files that may not be looked at";
  }
}

// The listing itself tells the kind of most entries; only links need a look at what they lead to.
fs::file_type type_of(const fs::directory_entry& entry, bool is_link) {
  std::error_code ignored;
  if (!is_link && entry.is_regular_file(ignored)) return fs::file_type::regular;
  if (!is_link && entry.is_directory(ignored)) return fs::file_type::directory;
  return entry.status(ignored).type();
}

}  // namespace

Result<FolderListing> list_folder(const std::string& folder) {
  FolderListing listing;
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (++count > limits().files)
      return fail(over_limit(folder, &Limits::files, fmt::format("{} files and more in it", count)));
    std::error_code ignored;
    const bool is_link = at->is_symlink(ignored);
    const fs::file_type type = type_of(*at, is_link);
    if (const std::string_view kind = skipped_kind(type, is_link); !kind.empty())
      ++listing.skipped[kind];
    else
      listing.files.push_back({at->path().filename().string(), type == fs::file_type::directory});
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: cannot list the folder: {}", folder, error.message()));
  std::sort(listing.files.begin(), listing.files.end(),
            [](const FolderListing::Entry& a, const FolderListing::Entry& b) { return a.name < b.name; });
  return listing;
}

}  // namespace opwright::format

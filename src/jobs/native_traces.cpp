#include "jobs/native_traces.h"

#include <fmt/format.h>

#include <filesystem>

#include "format/folder_listing.h"

namespace opwright::jobs {

Result<std::vector<std::string>> native_traces_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  OPWRIGHT_TRY_ASSIGN(const format::FolderListing listing, format::list_folder(path));
  std::vector<std::string> found;
  for (const format::FolderListing::Entry& entry : listing.files) {
    const std::string& name = entry.name;
    if (!entry.is_folder && (name.ends_with(".opwt") || name.ends_with(".opwt.gz") || name.ends_with(".opwt.zst")))
      found.push_back((fs::path(path) / name).string());
  }
  if (found.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: no native trace (.opwt) in this folder; give it a folder that has one", path));
  return found;
}

}  // namespace opwright::jobs

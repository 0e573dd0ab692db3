#include "jobs/fuse_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_object.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kList = "logs/files.json";  // what we wrote, by its hash

std::string hash_of(std::string_view content) { return to_hex(sha256(content)); }

bool read_list(const std::string& path, const std::string& name, std::map<std::string, std::string>& files) {
  std::string text;
  if (!read_file(path, text)) return false;
  json::Document document;
  const auto root = document.parse(text);
  if (!root || (*root)->string_field("name") != name) return false;
  const json::Node* list = (*root)->find("files");
  if (list == nullptr || !list->is(json::Kind::kObject)) return false;
  for (std::size_t i = 0; i < list->count; ++i)
    files[std::string(list->fields[i].key)] = std::string(list->fields[i].value.text);
  return true;
}

}  // namespace

Result<FuseFolder> FuseFolder::open(const std::string& path, const std::string& name) {
  FuseFolder out(path, name);
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (fs::exists(there) && !fs::is_directory(there))
    return fail(ErrorCode::kUsage, fmt::format("--out {}: it is no folder", path));
  if (fs::exists(there) && !fs::is_empty(path, error)) {
    if (!read_list(fmt::format("{}/{}", path, kList), name, out.written_))
      return fail(ErrorCode::kUsage,
                  fmt::format("--out {}: other files are in it, or those of another test; name a new "
                              "or an empty folder",
                              path));
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      if (at->is_directory(error)) continue;
      const std::string file = fs::relative(at->path(), path, error).generic_string();
      if (file == kList || out.written_.contains(file) || file.find("__pycache__") != std::string::npos) continue;
      return fail(ErrorCode::kUsage,
                  fmt::format("--out {}: {} is not ours; name a new or an empty folder", path, file));
    }
  }
  fs::create_directories(fs::path(path) / "logs", error);
  if (error) return fail(ErrorCode::kIo, fmt::format("--out {}: {}", path, error.message()));
  return out;
}

Status FuseFolder::write(const std::string& file, std::string_view content) {
  const std::string whole = fmt::format("{}/{}", path_, file);
  std::string old;
  std::error_code error;
  if (fs::exists(whole, error)) {
    OPWRIGHT_TRY(read_file(whole, old));
    const auto ours = written_.find(file);
    if (old != content && (ours == written_.end() || ours->second != hash_of(old)))
      return fail(ErrorCode::kUsage,
                  fmt::format("{} was changed since it was made, and is not overwritten; take it away, "
                              "or name another folder with --out",
                              whole));
  }
  if (old != content || !fs::exists(whole, error)) {
    if (const fs::path parent = fs::path(whole).parent_path(); !fs::exists(parent, error))
      fs::create_directories(parent, error);
    OPWRIGHT_TRY(write_atomically(whole, content));
  }
  written_[file] = hash_of(content);
  return keep_list();
}

bool FuseFolder::read(const std::string& file, std::string& content) const {
  const auto ours = written_.find(file);
  return ours != written_.end() && read_file(fmt::format("{}/{}", path_, file), content).has_value() &&
         hash_of(content) == ours->second;
}

Status FuseFolder::keep_list() {
  JsonObject files;
  for (const auto& [file, hash] : written_) files.add(file, hash);
  return write_atomically(fmt::format("{}/{}", path_, kList),
                          JsonObject().add("name", name_).add_raw("files", files.text()).text() + "\n");
}

}  // namespace opwright::jobs

#include "launch/overlay.h"

#include <fmt/format.h>

#include <filesystem>

#include "launch/kernel_compiler.h"

namespace opwright::launch {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> no_link(const fs::path& link, const std::error_code& error) {
  return fail(ErrorCode::kIo,
              fmt::format("{}: cannot make it: {}; set TMPDIR to a folder on a file system with symbolic links",
                          link.string(), error.message()));
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return no_link(folder, error);
  return {};
}

Status link_to(const fs::path& target, const fs::path& link) {
  std::error_code error;
  fs::create_symlink(target, link, error);
  if (error) return no_link(link, error);
  return {};
}

// Links to everything in `from`, except the entry `left_out`.
Status link_entries(const fs::path& from, const fs::path& into, const std::string& left_out) {
  OPWRIGHT_TRY(make_folder(into));
  std::error_code error;
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name != left_out) OPWRIGHT_TRY(link_to(entry->path(), into / name));
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("{}: cannot list it: {}", from.string(), error.message()));
  return {};
}

}  // namespace

Result<std::string> library_root(const std::string& package_folder) {
  std::error_code ignored;
  fs::path folder = fs::absolute(package_folder, ignored).lexically_normal();
  for (int up = 0; up < 3 && !folder.empty(); ++up, folder = folder.parent_path()) {
    if (fs::is_directory(folder / "tt_metal", ignored) && fs::is_directory(folder / "runtime", ignored))
      return folder.string();
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: this is no ttnn library as opwright knows it: there is no folder 'tt_metal' beside "
                          "'runtime' in it or above it; install it anew: pip install --force-reinstall ttnn",
                          package_folder));
}

Status make_overlay(const std::string& root, const std::string& folder, const std::string& compiler) {
  const fs::path top(folder);
  OPWRIGHT_TRY(link_entries(root, top, "runtime"));
  OPWRIGHT_TRY(link_entries(fs::path(root) / "runtime", top / "runtime", "sfpi"));
  const fs::path tools = top / "runtime/sfpi/compiler/bin";
  OPWRIGHT_TRY(make_folder(tools));
  return link_to(compiler, tools / kKernelCompilerName);
}

}  // namespace opwright::launch

#include "launch/python_package.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace opwright::launch {
namespace {

namespace fs = std::filesystem;

bool is_package_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "opwright" / "_capture.abi3.so", ignored);
}

// A wheel has the bootstrap folder inside the package, the build tree beside it.
std::string bootstrap_of(const std::string& folder) {
  for (const fs::path& candidate : {fs::path(folder) / "opwright" / "bootstrap", fs::path(folder) / "bootstrap"}) {
    std::error_code ignored;
    if (fs::exists(candidate / "sitecustomize.py", ignored)) return candidate.string();
  }
  return {};
}

}  // namespace

Result<std::string> python_package_folder() {
  if (const char* named = std::getenv("OPWRIGHT_PYTHON"); named != nullptr && *named != '\0') {
    std::error_code ignored;
    if (is_package_folder(named)) return fs::absolute(named, ignored).string();  // programs run in other folders, too
    return fail(ErrorCode::kBadInput,
                fmt::format("OPWRIGHT_PYTHON={}: no opwright/_capture.abi3.so there; build it with ./x build", named));
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path();
  // build/PRESET/opwright -> build/PRESET/python; site-packages/opwright/bin/opwright -> site-packages
  for (const fs::path& candidate :
       {folder / "python", folder.parent_path().parent_path(), folder.parent_path() / "lib" / "opwright" / "python"}) {
    if (is_package_folder(candidate)) return candidate.string();
  }
  return fail(
      ErrorCode::kBadInput,
      fmt::format("the Python package that records is not beside {}; build it with ./x build, install the wheel "
                  "(./x wheel), or say where it is with OPWRIGHT_PYTHON",
                  program.string()));
}

Status add_bootstrap(Environment& environment) {
  OPWRIGHT_TRY_ASSIGN(const std::string package, python_package_folder());
  const std::string bootstrap = bootstrap_of(package);  // which finds the package beside it
  if (bootstrap.empty()) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: bootstrap/sitecustomize.py is missing; build again", package));
  }
  const std::string own = environment.get("PYTHONPATH").value_or("");
  if (own == bootstrap || own.starts_with(bootstrap + ":")) return {};
  environment.set("PYTHONPATH", own.empty() ? bootstrap : bootstrap + ":" + own,
                  "Python starts our hook; your own path follows");
  return {};
}

}  // namespace opwright::launch

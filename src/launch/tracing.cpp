#include "launch/tracing.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/json_write.h"

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

std::string options_json(const TraceOptions& options) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += text.empty() ? "{" : ", ";
    json::append_quoted(text, name);
    text += ": ";
    json::append_quoted(text, value);
  };
  add("only", options.only);
  add("phase", options.phase);
  add("first", options.first);
  add("values", options.values);
  add("max_overhead", options.max_overhead);
  add("device_ops", options.device_ops ? "1" : "");
  add("per_test", options.per_test ? "1" : "");
  return text.empty() ? "{}" : text + "}";
}

}  // namespace

Result<std::string> python_package_folder() {
  if (const char* named = std::getenv("OPWRIGHT_PYTHON"); named != nullptr && *named != '\0') {
    if (is_package_folder(named)) return std::string(named);
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

Status add_tracing(Environment& environment, const TraceOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const std::string package, python_package_folder());
  const std::string bootstrap = bootstrap_of(package);
  if (bootstrap.empty()) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: bootstrap/sitecustomize.py is missing; build again", package));
  }
  std::string path = bootstrap;  // which finds the package beside it
  if (const auto own = environment.get("PYTHONPATH"); own && !own->empty()) path += ":" + *own;
  environment.set("PYTHONPATH", path, "Python starts our hook; your own path follows");
  environment.set("OPWRIGHT_TRACE", options.folder, "where the trace goes, one file a process");
  environment.set("OPWRIGHT_TRACE_OPTIONS", options_json(options), "what is recorded");
  environment.set("OPWRIGHT_TRACE_UID", options.uid, "the name of this run");
  return {};
}

}  // namespace opwright::launch

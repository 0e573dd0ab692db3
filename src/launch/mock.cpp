#include "launch/mock.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/input.h"
#include "base/subprocess.h"
#include "launch/kernel_compiler.h"
#include "launch/overlay.h"
#include "launch/python_package.h"

namespace opwright::launch {
namespace {

constexpr char kFolderPrefix[] = "opwright-mock-";
constexpr int kFastDispatchMinor = 75;
constexpr char kDeviceTraces[] = "/device-traces";  // the letters are those of python/opwright/_mock.py

// The small program beside this one, or in lib/opwright/ of an installation; else this program itself, which is the
// compiler when it is started as one. A copy in `folder` where it was replaced by a newer one since it started.
Result<std::string> find_compiler(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = "/proc/self/exe", path = fs::read_symlink(self, error);
  const fs::path folder_of_program = path.parent_path();
  for (const fs::path& place : {folder_of_program, folder_of_program.parent_path() / "lib" / "opwright"}) {
    if (const auto beside = find_program((place / kKernelCompilerName).string(), "")) return *beside;
  }
  if (!error && fs::exists(path, error)) return path.string();
  const fs::path copy = fs::path(folder) / "opwright";
  error.clear();
  fs::copy_file(self, copy, error);
  if (!error) fs::permissions(copy, fs::perms::owner_all, error);
  if (error)
    return fail(ErrorCode::kIo, fmt::format("{}: cannot find or copy this program: {}; the mock device needs /proc",
                                            self.string(), error.message()));
  return copy.string();
}

// Who has built the library from source names its root with the library's own variable. Another folder in it is the
// program's repository, and the installed library is taken.
Result<std::string> root_for(const PythonProbe& python, const std::string& named) {
  if (!named.empty()) {
    if (auto root = library_root(named)) return root;
  }
  return library_root(python.ttnn_folder);
}

// Makes the library find its root: by our package, when it is imported; where that cannot be, by the variable.
Status lead_to_root(const std::string& overlay, const MockOptions& options, Environment& environment) {
  const Status hooked = add_bootstrap(environment);
  if (!hooked && options.stub_device_trace) return fail(hooked.error());
  if (!hooked || options.export_root) {
    environment.set("TT_METAL_RUNTIME_ROOT", overlay,
                    options.export_root ? "the library's files with a kernel compiler beside them, for a program that "
                                          "does not load our Python package"
                                        : "the library's files with a kernel compiler beside them; our Python package, "
                                          "which would tell the library without it, is not beside this program");
    return {};
  }
  environment.keep("TT_METAL_RUNTIME_ROOT", "the program sees yours; the library is told its root when it is imported");
  return {};
}

// What the program finds in its environment.
void describe(const Board& board, const PythonProbe& python, const std::string& folder, const std::string& descriptor,
              const MockOptions& options, Environment& environment) {
  environment.set("TT_METAL_MOCK_CLUSTER_DESC_PATH", descriptor, "selects the mock device, and which board it is");
  environment.set("TT_METAL_CACHE", folder + "/cache",
                  "kernels of the stand-in compiler must not get into a cache that hardware reads");
  if (board.slow_dispatch)
    environment.set("TT_METAL_SLOW_DISPATCH_MODE", "1", "fast dispatch does not work on mock n300 cards");
  else if (ttnn_is_before(python, kFastDispatchMinor))
    environment.set("TT_METAL_SLOW_DISPATCH_MODE", "1",
                    "fast dispatch crashes on the mock device before ttnn 0." + std::to_string(kFastDispatchMinor));
  // A descriptor of the user's own may be called like a board, and be another.
  environment.set("OPWRIGHT_MOCK_BOARD",
                  board.file.empty() ? board.name : "file:" + std::filesystem::path(board.file).filename().string(),
                  "tells opwright's tracing the board");
  environment.set("OPWRIGHT_MOCK_FOLDER", folder, "where our Python package finds the library's root");
  constexpr const char* kOther = "of another 'opwright mock' around this one";
  if (options.stub_device_trace)
    environment.set("OPWRIGHT_MOCK_STUBS", "device-trace",
                    "begin_trace_capture and its companions do nothing, as asked");
  else
    environment.remove("OPWRIGHT_MOCK_STUBS", kOther);
  environment.remove("OPWRIGHT_MOCK_ROOT_WAS", kOther);

  constexpr const char* kElsewhere = "would run the program on something else than the mock device";
  environment.remove("TT_METAL_SIMULATOR", kElsewhere);
  environment.remove("TT_METAL_EMULE_MODE", kElsewhere);
  constexpr const char* kOtherCompiler = "would compile kernels with something else than the stand-in";
  environment.remove("TT_METAL_JIT_SERVER_ENABLE", kOtherCompiler);
  environment.remove("TT_METAL_CCACHE_KERNEL_SUPPORT", kOtherCompiler);
  constexpr const char* kFewerChips = "names chips of this machine, not of the mock board";
  environment.remove("TT_VISIBLE_DEVICES", kFewerChips);
  environment.remove("TT_METAL_VISIBLE_DEVICES", kFewerChips);

  environment.set_default("TT_METAL_LOGS_PATH", folder + "/logs",
                          "keeps the library's generated/ out of the current folder");
  environment.set_default("TT_LOGGER_LEVEL", "FATAL", "the library's log is long and about the device");
  environment.keep("LOGURU_LEVEL",
                   "also for the lines of the library's Python part, of which only errors are shown "
                   "where it is not set");
}

}  // namespace

Result<MockSetup> MockSetup::make(const Board& board, const PythonProbe& python, Environment inherited,
                                  const MockOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const std::string root, root_for(python, inherited.get("TT_METAL_RUNTIME_ROOT").value_or("")));
  OPWRIGHT_TRY_ASSIGN(TempFolder folder, TempFolder::make(kFolderPrefix));
  if (options.keep) folder.keep();

  MockSetup setup(std::move(folder), std::move(inherited));
  const std::string& path = setup.folder();
  std::string compiler = options.compiler;
  if (compiler.empty()) {
    OPWRIGHT_TRY_ASSIGN(compiler, find_compiler(path));
  }
  const std::string overlay = path + "/root";
  const std::string descriptor = board.file.empty() ? path + "/cluster.yaml" : board.file;
  if (board.file.empty()) OPWRIGHT_TRY(write_atomically(descriptor, cluster_descriptor(board)));
  OPWRIGHT_TRY(make_overlay(root, overlay, compiler));
  setup.files_ = {
      {descriptor, "what the library reads instead of asking hardware"},
      {overlay + "/", "links to everything in " + root},
      {fmt::format("{}/runtime/sfpi/compiler/bin/{}", overlay, kKernelCompilerName),
       "the kernel compiler, a link to " + compiler},
      {path + "/cache/", "compiled kernels"},
      {path + "/logs/", "what the library writes to generated/ in the current folder otherwise"},
      {path + kDeviceTraces, "one letter for each call of begin_trace_capture and its companions"},
  };
  describe(board, python, path, descriptor, options, setup.environment_);
  OPWRIGHT_TRY(lead_to_root(overlay, options, setup.environment_));
  return setup;
}

DeviceTraceCalls MockSetup::device_trace_calls() const {
  DeviceTraceCalls calls;
  std::ifstream file(folder() + kDeviceTraces, std::ios::binary);
  for (char letter = 0; file.get(letter);) {
    if (letter == 'b') ++calls.captured;
    if (letter == 'x') ++calls.replayed;
    if (letter == 'r') ++calls.released;
    if (letter == 'a') ++calls.asked_for;
  }
  return calls;
}

}  // namespace opwright::launch

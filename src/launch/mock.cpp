#include "launch/mock.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/input.h"
#include "base/subprocess.h"
#include "launch/kernel_compiler.h"
#include "launch/overlay.h"

namespace opwright::launch {
namespace {

constexpr char kFolderPrefix[] = "opwright-mock-";
constexpr int kFastDispatchMinor = 75;

// The small program beside this one, else this program itself, which is the compiler when it is started as one. A copy
// in `folder` where it was replaced by a newer one since it started.
Result<std::string> find_compiler(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = "/proc/self/exe", path = fs::read_symlink(self, error);
  if (const auto beside = find_program((path.parent_path() / kKernelCompilerName).string(), "")) return *beside;
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

// Who has built the library from source names its root with the library's own variable.
Result<std::string> root_for(const PythonProbe& python, const Environment& environment) {
  const std::string named = environment.get("TT_METAL_RUNTIME_ROOT").value_or("");
  if (named.empty()) return library_root(python.ttnn_folder);
  auto root = library_root(named);
  if (!root)
    return fail(ErrorCode::kNotFound,
                fmt::format("TT_METAL_RUNTIME_ROOT={}: there are no folders 'tt_metal' and 'runtime'; unset it to use "
                            "the library in {}",
                            named, python.ttnn_folder));
  return root;
}

// What the program finds in its environment.
void describe(const Board& board, const PythonProbe& python, const std::string& descriptor, const std::string& overlay,
              const std::string& cache, const std::string& logs, Environment& environment) {
  environment.set("TT_METAL_MOCK_CLUSTER_DESC_PATH", descriptor, "selects the mock device, and which board it is");
  environment.set("TT_METAL_RUNTIME_ROOT", overlay, "the library's files with a kernel compiler beside them");
  environment.set("TT_METAL_CACHE", cache,
                  "kernels of the stand-in compiler must not get into a cache that hardware reads");
  if (board.slow_dispatch)
    environment.set("TT_METAL_SLOW_DISPATCH_MODE", "1", "fast dispatch does not work on mock n300 cards");
  else if (ttnn_is_before(python, kFastDispatchMinor))
    environment.set("TT_METAL_SLOW_DISPATCH_MODE", "1",
                    "fast dispatch crashes on the mock device before ttnn 0." + std::to_string(kFastDispatchMinor));
  environment.set("OPWRIGHT_MOCK_BOARD", board.name, "tells opwright's tracing the board");

  constexpr const char* kElsewhere = "would run the program on something else than the mock device";
  environment.remove("TT_METAL_SIMULATOR", kElsewhere);
  environment.remove("TT_METAL_EMULE_MODE", kElsewhere);
  constexpr const char* kOtherCompiler = "would compile kernels with something else than the stand-in";
  environment.remove("TT_METAL_JIT_SERVER_ENABLE", kOtherCompiler);
  environment.remove("TT_METAL_CCACHE_KERNEL_SUPPORT", kOtherCompiler);
  constexpr const char* kFewerChips = "names chips of this machine, not of the mock board";
  environment.remove("TT_VISIBLE_DEVICES", kFewerChips);
  environment.remove("TT_METAL_VISIBLE_DEVICES", kFewerChips);

  environment.set_default("TT_METAL_LOGS_PATH", logs, "keeps the library's generated/ out of the current folder");
  environment.set_default("TT_LOGGER_LEVEL", "FATAL", "the library's log is long and about the device");
  environment.set_default("LOGURU_LEVEL", "ERROR", "the same for its Python part");
}

}  // namespace

Result<MockSetup> MockSetup::make(const Board& board, const PythonProbe& python, Environment inherited,
                                  const MockOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const std::string root, root_for(python, inherited));
  OPWRIGHT_TRY_ASSIGN(TempFolder folder, TempFolder::make(kFolderPrefix));
  if (options.keep) folder.keep();

  MockSetup setup(std::move(folder), std::move(inherited));
  const std::string& path = setup.folder();
  std::string compiler = options.compiler;
  if (compiler.empty()) {
    OPWRIGHT_TRY_ASSIGN(compiler, find_compiler(path));
  }
  const std::string overlay = path + "/root", cache = path + "/cache", logs = path + "/logs";
  const std::string descriptor = board.file.empty() ? path + "/cluster.yaml" : board.file;
  if (board.file.empty()) OPWRIGHT_TRY(write_atomically(descriptor, cluster_descriptor(board)));
  OPWRIGHT_TRY(make_overlay(root, overlay, compiler));
  setup.files_ = {
      {descriptor, "what the library reads instead of asking hardware"},
      {overlay + "/", "links to everything in " + root},
      {fmt::format("{}/runtime/sfpi/compiler/bin/{}", overlay, kKernelCompilerName),
       "the kernel compiler, a link to " + compiler},
      {cache + "/", "compiled kernels"},
      {logs + "/", "what the library writes to generated/ in the current folder otherwise"},
  };
  describe(board, python, descriptor, overlay, cache, logs, setup.environment_);
  return setup;
}

}  // namespace opwright::launch

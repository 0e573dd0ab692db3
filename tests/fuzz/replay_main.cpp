// Gives files to a fuzz target, one after the other, without a fuzzer: so every build tests what fuzzing once found.
//
//   fuzz_replay selector tests/fuzz/corpus/selector tests/fuzz/findings/selector
//
// Behind the target come files and folders; one that is not there is passed over, since a target without findings has
// no folder. What goes wrong ends the program through a sanitizer or a signal, after the name of the file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "device/external/keeper.h"

#define OPWRIGHT_FUZZ_TARGETS(X) \
  X(case_line)                   \
  X(graph)                       \
  X(json)                        \
  X(jsonl)                       \
  X(master)                      \
  X(messages)                    \
  X(native)                      \
  X(normalize)                   \
  X(per_op)                      \
  X(perf)                        \
  X(reflection)                  \
  X(selector) X(shrink) X(suites) X(vectors) X(verb_device) X(verb_file) X(verb_perf) X(verb_store) X(verb_trace)

#define OPWRIGHT_DECLARE(name) extern "C" int opwright_fuzz_##name(const std::uint8_t* data, std::size_t size);
OPWRIGHT_FUZZ_TARGETS(OPWRIGHT_DECLARE)

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target target_named(std::string_view wanted) {
#define OPWRIGHT_FIND(name) \
  if (wanted == #name) return opwright_fuzz_##name;
  OPWRIGHT_FUZZ_TARGETS(OPWRIGHT_FIND)
  return nullptr;
}

void replay(Target target, const std::filesystem::path& path) {
  std::fprintf(stderr, "%s\n", path.c_str());
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot be read\n");
    std::exit(1);
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  // A device program is started by a keeper, which is the same program again.
  if (argc == 2 && opwright::kKeeperVerb == argv[1]) return opwright::keep_program();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Target target = arguments.empty() ? nullptr : target_named(arguments.front());
  if (target == nullptr) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FILE_OR_FOLDER…\n");
    return 2;
  }
  std::size_t count = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::filesystem::path path = std::filesystem::absolute(arguments[i]);  // targets of verbs change the folder
    if (std::filesystem::is_regular_file(path)) {
      replay(target, path);
      ++count;
    } else if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (!entry.is_regular_file()) continue;
        replay(target, entry.path());
        ++count;
      }
    }
  }
  std::printf("%zu inputs\n", count);
  return 0;
}

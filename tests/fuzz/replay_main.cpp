// Gives files to a fuzz target, one after the other, without a fuzzer: so every build tests what fuzzing once found.
//
//   fuzz_selector_replay tests/fuzz/corpus/fuzz_selector tests/fuzz/findings/fuzz_selector
//
// Arguments are files and folders; one that is not there is passed over, since a target without findings has no folder.
// What goes wrong ends the program through a sanitizer or a signal, after the name of the file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::fprintf(stderr, "%s\n", path.c_str());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::filesystem::path> arguments(argv + 1, argv + argc);
  std::size_t count = 0;
  for (const std::filesystem::path& argument : arguments) {
    if (std::filesystem::is_regular_file(argument)) {
      replay(argument);
      ++count;
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argument)) {
        if (!entry.is_regular_file()) continue;
        replay(entry.path());
        ++count;
      }
    }
  }
  std::printf("%zu inputs\n", count);
  return 0;
}

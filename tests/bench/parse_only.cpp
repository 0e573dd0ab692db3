// How long simdjson alone needs to walk every value of some JSON: the floor under the time of an import.
//
//   parse_only FILE_OR_FOLDER…       prints "SECONDS MEGABYTES_PER_SECOND BYTES SECONDS_WITH_SHA256
//   THE_SAME_OF_PROCESSOR"
//
// Files that end in .jsonl are read line by line. The files are read before the clock starts; the median of 5 walks
// counts. The last numbers also have the SHA-256 of every byte in them: what an import must do that knows nothing; the
// very last is processor time, which does not depend on what else the machine does.
#include <openssl/sha.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace ondemand = simdjson::ondemand;

// Something that depends on every value, so that no walk can be left out.
std::uint64_t walk(ondemand::value value) {
  const std::string_view token = value.raw_json_token();
  std::uint64_t sum = 0;
  switch (token.front()) {
    case '{':
      for (auto field : value.get_object()) {
        sum += std::string_view(field.unescaped_key()).size();
        sum += walk(field.value());
      }
      return sum;
    case '[':
      for (auto element : value.get_array()) sum += walk(element.value());
      return sum;
    case '"':
      return std::string_view(value.get_string()).size();
    default:
      return token.size();
  }
}

struct File {
  simdjson::padded_string text;
  bool lines = false;
};

std::uint64_t walk(ondemand::parser& parser, const File& file) {
  const std::string_view text(file.text.data(), file.text.size());
  if (!file.lines) {
    auto document = parser.iterate(file.text);
    return walk(document.get_value().value());
  }
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) {
      // Behind a line there is the next one, or the padding of the file.
      const simdjson::padded_string_view line(text.data() + begin, end - begin,
                                              text.size() - begin + simdjson::SIMDJSON_PADDING);
      auto document = parser.iterate(line);
      sum += walk(document.get_value().value());
    }
    begin = end + 1;
  }
  return sum;
}

void load(const std::filesystem::path& path, std::vector<File>& files) {
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) load(entry.path(), files);
    return;
  }
  files.push_back({simdjson::padded_string::load(path.string()).value(), path.extension() == ".jsonl"});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<File> files;
    for (int i = 1; i < argc; ++i) load(argv[i], files);
    std::size_t bytes = 0;
    for (const File& file : files) bytes += file.text.size();
    ondemand::parser parser;
    std::uint64_t sum = 0;
    const auto middle = [](std::vector<double>& seconds) {
      std::sort(seconds.begin(), seconds.end());
      return seconds[seconds.size() / 2];
    };
    std::vector<double> seconds, processor;
    const auto walk_all = [&](bool hashed) {
      seconds.clear();
      processor.clear();
      for (int run = 0; run < 5; ++run) {
        const std::clock_t begun = std::clock();
        const auto begin = std::chrono::steady_clock::now();
        for (const File& file : files) {
          sum += walk(parser, file);
          std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
          if (hashed) SHA256(reinterpret_cast<const unsigned char*>(file.text.data()), file.text.size(), digest.data());
          sum += digest[0];
        }
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        processor.push_back(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
      }
    };
    walk_all(false);
    const double parsed = middle(seconds);
    walk_all(true);
    std::printf("%.6f %.0f %zu %.6f %.6f\n", parsed, static_cast<double>(bytes) / 1e6 / parsed, bytes, middle(seconds),
                middle(processor));
    return sum == 0 ? 1 : 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "parse_only: %s\n", problem.what());
    return 3;
  }
}

// Whole verbs under the fuzzer: a command line runs in this process, in an empty folder, and what it says is checked.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/command.h"
#include "laws.h"

namespace opwright::fuzz {

// A folder that verbs work in, emptied for each input. One a process: the current folder is the process's.
class World {
 public:
  // The world of this process, empty.
  static World& fresh() {
    static World world;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(world.folder_))
      std::filesystem::remove_all(entry.path(), ignored);
    return world;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.good(), "a file of the world can be written", name);
  }

  // Runs a verb and checks what holds for every one, whatever it was given. Returns its exit status.
  int run(const std::vector<std::string>& words) const {
    std::ostringstream out, err;
    cli::CommandEnv env{.out = out, .err = err};
    env.store = "opwright.db";
    const int code = cli::run_command_line(words, env);
    const std::string said = err.str(), line = joined(words);
    require(code >= 0 && code <= 3, "an exit status is one of the documented ones", line);
    require(
        !said.starts_with("opwright: internal error") && said.find("\nopwright: internal error") == std::string::npos,
        "no error is internal", line + "\n" + said);
    // What doctor finds is what it prints.
    const bool has_told = words[0] == "doctor" ? !out.str().empty() : false;
    if (code >= 2) require(has_told || said.find("opwright: ") != std::string::npos, "who fails says why", line);
    require_plain(said, line);
    require_plain(out.str(), line);
    if (code < 2 && has(words, "json")) require_json(out.str(), line);
    if (code < 2 && has(words, "jsonl")) require_json_lines(out.str(), line);
    return code;
  }

 private:
  World() {
    // In memory where possible: stores are synced to disk, and that would be most of the time.
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    std::string name =
        (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/opwright-fuzz-XXXXXX";
    require(mkdtemp(name.data()) != nullptr, "a temporary folder can be made", name);
    folder_ = name;
    std::filesystem::current_path(folder_);
  }
  ~World() {
    std::error_code ignored;
    std::filesystem::current_path("/", ignored);
    std::filesystem::remove_all(folder_, ignored);
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text = "opwright";
    for (const std::string& word : words) text += ' ' + word;
    return text;
  }
  static bool has(const std::vector<std::string>& words, std::string_view format) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == "--format") return words[i + 1] == format;
    return false;
  }
  // Nothing that a terminal would act upon: bytes below a space other than line ends and tabs, DEL, C1 controls, and
  // the characters that turn the direction of writing.
  static void require_plain(std::string_view text, std::string_view line) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
      const auto third = static_cast<unsigned char>(i + 2 < text.size() ? text[i + 2] : 0);
      const bool control = (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f;
      const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
      const bool turns =
          byte == 0xe2 && ((next == 0x80 && ((third >= 0xaa && third <= 0xae) || third == 0x8e || third == 0x8f)) ||
                           (next == 0x81 && third >= 0xa6 && third <= 0xa9));
      require(!control && !c1 && !turns, "no control character gets out", line);
    }
  }
  static void require_json(const std::string& text, std::string_view line) {
    json::Document document;
    require(document.parse(text).has_value(), "--format json prints JSON", std::string(line) + "\n" + text);
  }
  static void require_json_lines(const std::string& text, std::string_view line) {
    std::istringstream lines(text);
    for (std::string one; std::getline(lines, one);) require_json(one, line);
  }

  std::filesystem::path folder_;
};

// The last byte of an input chooses what is done with the rest; kAll: everything, one after the other. The fuzzer does
// one thing with an input, which the bytes choose: everything takes seconds.
struct Choice {
  static constexpr std::size_t kAll = 255;
  std::string_view bytes;
  std::size_t number;

  // Which of `count` things to do.
  std::vector<std::size_t> of(std::size_t count) const {
    if (number != kAll) return {number % count};
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
};
inline Choice choose(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return {{}, 0};
  const std::string_view bytes = text_of(data, size - 1);
#ifdef OPWRIGHT_LIBFUZZER
  if (data[size - 1] == Choice::kAll) return {bytes, std::hash<std::string_view>{}(bytes) % Choice::kAll};
#endif
  return {bytes, data[size - 1]};
}

}  // namespace opwright::fuzz

// What every fuzz target of a reader asks of what the reader hands over, beyond "no crash".
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "format/trace_sink.h"
#include "normalize/foreign_hash.h"
#include "normalize/normalize.h"
#include "require.h"

namespace opwright::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline bool is_packed(std::string_view text) {
  return text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd");
}

// One text normalized twice, with and without its white space: one configuration, whose text stands on one line.
class Checker {
 public:
  // The key, or nothing when the text is not of the form's shape.
  std::string check(FormKind kind, std::string_view op, std::string_view arguments) {
    format::LiftNotes notes;
    const auto config = normalizer_.normalize(kind, op, arguments, notes);
    if (!config) {
      require(!config.error().message.empty(), "an error says what is wrong");
      return "";
    }
    const std::string canonical = normalize::canonical_text(*config);
    require(canonical.find_first_of(std::string_view("\n\r\0", 3)) == std::string::npos, "a canonical text is one line",
            canonical);
    require(normalize::key_of(canonical) == config->key, "the key is that of the canonical text", canonical);
    require(notes.unparsed == 0 || !notes.unparsed_example.empty(), "an unparsed text is shown", canonical);
    require(notes.unknown_names == 0 || !notes.unknown_example.empty(), "an unknown name is shown", canonical);

    const auto root = document_.parse(arguments);
    require(root.has_value(), "what was normalized is JSON", arguments);
    again_.clear();
    json::append_python(again_, **root, {});
    same(kind, op, *config, "spelling it as Python does keeps the key");
    again_.clear();
    json::append_python(again_, **root, {.indent = 2});
    same(kind, op, *config, "white space keeps the key");
    std::string sorted;
    json::append_python(sorted, **root, {.sort_keys = true, .indent = 2});
    const bool no_name_twice = sorted.size() == again_.size();
    again_ = sorted;
    if (no_name_twice) same(kind, op, *config, "the order of names in an object keeps the key");
    return to_hex(config->key);
  }

  // A reader that hands over its tree wrote the text from it: both are one configuration, and the text has no blanks.
  void check_tree(const Observed& observed) {
    format::LiftNotes of_tree, of_text;
    const auto tree = normalizer_.normalize(observed, of_tree);
    const auto text = other_.normalize(observed.kind, observed.op, observed.arguments, of_text);
    require(tree.has_value() && text.has_value(), "a tree and its text can be understood", observed.arguments);
    require(tree->key == text->key, "a tree and its text are one configuration",
            normalize::canonical_text(*tree) + "\n" + normalize::canonical_text(*text));
    require(of_tree.unparsed == of_text.unparsed && of_tree.unknown_names == of_text.unknown_names,
            "a tree and its text are understood alike", observed.arguments);
    std::vector<char> buffer;
    require(json::minify(observed.arguments, buffer) == observed.arguments, "the text of a tree has no blanks",
            observed.arguments);
  }

 private:
  void same(FormKind kind, std::string_view op, const OpConfig& config, const char* law) {
    format::LiftNotes notes;
    const auto other = other_.normalize(kind, op, again_, notes);
    require(other.has_value(), law, again_);
    require(other->key == config.key, law,
            normalize::canonical_text(config) + "\n" + normalize::canonical_text(*other));
  }

  normalize::Normalizer normalizer_;
  normalize::Normalizer other_;
  json::Document document_;
  std::string again_;
};

// Normalizes what a reader observes and writes down what came, so that two readings can be compared.
class Recorder final : public format::TraceSink {
 public:
  explicit Recorder(std::size_t size) : size_(size) {}

  Status observe(const Observed& observed) override {
    const int kind = static_cast<int>(observed.kind);
    require(kind >= 1 && kind <= 6, "a form is of a known kind");
    require(!observed.sightings.empty(), "what was observed was seen", observed.op);
    require(observed.offset <= size_, "the place of a record is inside the file", observed.op);
    for (const Sighting& sighting : observed.sightings) {
      require(sighting.count >= kUncounted, "a count is not negative", observed.op);
      require(sighting.raised == 0 || (sighting.raised > 0 && sighting.raised <= sighting.count),
              "no more calls raised than were made", observed.op);
      require(sighting.error.empty() || sighting.raised > 0, "what does not raise has no error", observed.op);
      require_json(sighting.machine, "machine_info is JSON");
      require_json(sighting.extra, "the rest of an execution is JSON");
    }
    lines_.push_back(std::string(observed.op) + ' ' + checker_.check(observed.kind, observed.op, observed.arguments));
    if (observed.tree != nullptr) checker_.check_tree(observed);
    if (is_era2_text(observed.kind)) check_hash(observed);
    return {};
  }
  void lose(const format::Loss& loss) override {
    require(!loss.kind.empty() && !loss.example.empty(), "a loss says what was lost", loss.kind);
    require(loss.offset <= size_, "the place of a loss is inside the file", loss.kind);
    lines_.push_back("lost " + std::string(loss.kind));
  }
  void leave_out(std::string_view what, std::size_t count) override {
    require(!what.empty(), "what is left out has a name");
    left_out_ += count;
  }
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo& trace) override {
    require(!trace.uid.empty(), "a trace that ends has a uid");
    ++ended_;
    return {};
  }
  void add_bytes(std::size_t bytes) override { bytes_ += bytes; }
  void add_file() override {}

  // Configurations and losses, in their order.
  const std::vector<std::string>& lines() const { return lines_; }
  std::size_t left_out() const { return left_out_; }
  std::size_t ended() const { return ended_; }

 private:
  void require_json(std::string_view text, const char* law) {
    if (text.empty()) return;
    require(document_.parse(text).has_value(), law, text);
  }

  void check_hash(const Observed& observed) {
    json::Document arguments;
    const auto root = arguments.parse(observed.arguments);
    if (!root) return;
    const auto machine = observed.sightings.front().machine.empty()
                             ? tl::unexpected(json::ParseError{})
                             : document_.parse(observed.sightings.front().machine);
    const json::Node* machine_node = machine ? *machine : nullptr;
    for (int generation = 0; generation < normalize::kGenerations; ++generation) {
      const std::string hash =
          normalize::config_hash(static_cast<normalize::Generation>(generation), observed.op, **root, machine_node);
      require(hash.size() == 64, "a config_hash has 64 digits", hash);
      require(normalize::matching_generations(hash, observed.op, **root, machine_node)
                  .test(static_cast<std::size_t>(generation)),
              "a generation knows its own hash", observed.arguments);
    }
    if (!observed.config_hash.empty())
      (void)normalize::matching_generations(observed.config_hash, observed.op, **root, machine_node);
  }

  std::size_t size_;
  Checker checker_;
  json::Document document_;
  std::vector<std::string> lines_;
  std::size_t left_out_ = 0;
  std::size_t ended_ = 0;
  std::size_t bytes_ = 0;
};

inline void require_same(const Recorder& first, const Recorder& second, const char* law) {
  require(first.lines() == second.lines(), law, first.lines().empty() ? std::string_view() : first.lines().front());
  require(first.left_out() == second.left_out() && first.ended() == second.ended(), law);
}

inline void require_sound(const Status& status) {
  require(status.has_value() || !status.error().message.empty(), "an error says what is wrong");
}

// A file in memory that has a path, for readers that open what they read.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : fd_(memfd_create("opwright-fuzz", MFD_CLOEXEC)) {
    require(fd_ >= 0, "a file in memory can be made");
    std::size_t written = 0;
    while (written < content.size()) {
      const ssize_t count = ::write(fd_, content.data() + written, content.size() - written);
      require(count > 0, "a file in memory can be written");
      written += static_cast<std::size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace opwright::fuzz

// Bytes of a file or of standard input ("-"), decompressed when they are gzip or zstd (seen by content, not by name).
// Limits (base/limits.h) are kept while reading: what is too large is an error before it is in memory.
//
//   auto input = Input::open(path);
//   std::string_view start = input->peek(4096);      // decide what it is
//   auto all = std::move(*input).read_all();         // either the whole text …
//   while (auto line = input->next_line()) …         // … or line by line, memory bounded by the longest line
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"

namespace opwright {

// A whole text with at least 64 readable bytes behind its end (the JSON parser reads ahead). It is a copy: a file that
// shrinks or is written again afterwards does not reach it.
class Text {
 public:
  Text() = default;
  Text(Text&& other) noexcept;
  Text& operator=(Text&& other) noexcept;
  ~Text();
  std::string_view view() const { return {data_, size_}; }

 private:
  friend class Input;
  bool reserve(std::size_t bytes);  // room for so many; false when there is no memory

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

class Input {
 public:
  // kRegular: anything but a regular file, or a link to one, is refused without waiting for it. For files that were
  // found in a folder; a pipe or a device is read when somebody named it.
  enum class Take { kAny, kRegular };
  // A document that somebody writes while we read it is neither the old nor the new one. A trace of a running program
  // may grow: its records have checksums.
  enum class Changes { kRefused, kAllowed };

  static Result<Input> open(const std::string& path, Take take = Take::kAny);
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  // The first bytes, without consuming them; shorter only when the input is shorter.
  Result<std::string_view> peek(std::size_t count);
  Result<Text> read_all(Changes changes = Changes::kRefused) &&;
  // The next line without its newline; nothing at the end. The view lives until the next call.
  Result<std::optional<std::string_view>> next_line();
  // Blank lines that come next, as far as they are in memory; consumed. Millions of them then cost as little as their
  // bytes. The view lives until the next call.
  std::string_view blank_lines();
  // Byte of the (decompressed) input where the line that next_line() gave last begins.
  std::size_t line_offset() const;
  std::size_t bytes_read() const;  // decompressed

  // A pipe, a socket, a terminal, a device: reading it may wait for somebody.
  bool is_stream() const;
  // Reads all of it into a nameless file, at most `bound` bytes, so that nobody has to wait later; then as before.
  Status spool(Limit bound);

 private:
  struct State;
  explicit Input(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads a small regular file as it is; used for side files and per-op records. `out` is replaced.
Status read_file(const std::string& path, std::string& out);

// Writes a file so that it is either there whole or not at all: a temporary beside it, flushed, then renamed.
Status write_atomically(const std::string& named, std::string_view content);

std::string system_message(int error_number);
// "a FIFO", "a socket", "a device", "a folder"; "" for a regular file.
std::string_view special_kind(unsigned mode);

}  // namespace opwright

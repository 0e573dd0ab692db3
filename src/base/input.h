// Bytes of a file or of standard input ("-"), decompressed when they are gzip or zstd (seen by content, not by name).
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

#include "base/result.h"

namespace opwright {

// A whole text with at least 64 readable bytes behind its end (the JSON parser reads ahead).
class Text {
 public:
  Text() = default;
  Text(Text&& other) noexcept;
  Text& operator=(Text&& other) noexcept;
  ~Text();
  std::string_view view() const { return {data_, size_}; }

 private:
  friend class Input;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;  // bytes of the mapping; 0: the text lies in owned_
  std::unique_ptr<char[]> owned_;
};

class Input {
 public:
  static Result<Input> open(const std::string& path);
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  // The first bytes, without consuming them; shorter only when the input is shorter.
  Result<std::string_view> peek(std::size_t count);
  Result<Text> read_all() &&;
  // The next line without its newline; nothing at the end. The view lives until the next call.
  Result<std::optional<std::string_view>> next_line();
  // Byte of the (decompressed) input where the line that next_line() gave last begins.
  std::size_t line_offset() const;
  std::size_t bytes_read() const;  // decompressed

 private:
  struct State;
  explicit Input(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads a small file as it is; used for side files and per-op records. `out` is replaced.
Status read_file(const std::string& path, std::string& out);

// Writes a file so that it is either there whole or not at all: a temporary beside it, flushed, then renamed.
Status write_atomically(const std::string& named, std::string_view content);

std::string system_message(int error_number);

}  // namespace opwright

// Text that others chose (names of a trace, messages of a device, file names) shown so that it can neither command a
// terminal nor pretend to be something else. What is not shown as it is, is written as JSON writes it: \u001b, \u202e,
// \n. One notation for tables, messages, CSV, JSON and case lines; a backslash itself stays as it is, so only JSON is
// exact (docs/formats/text.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace opwright {

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool sound = false;  // else `code` is one byte that is no UTF-8 here: overlong, a surrogate, cut off
};
// Of the text at `at`, which must be inside.
CodePoint code_point_at(std::string_view text, std::size_t at);

// Controls, marks of direction, characters without width, separators of lines, tags: what a terminal obeys, or a reader
// does not see.
bool is_hidden(std::uint32_t code);
// The escape of one code point: "\u001b"; beyond 16 bits two of them, as in JSON; \n, \r and \t by their letters.
void append_escape(std::string& out, std::uint32_t code);

// On one line: nothing hidden, no newline.
std::string visible(std::string_view text);
// The same, but lines stay lines.
std::string visible_lines(std::string_view text);

// The border between the program and its standard streams: a stream that lets text and newlines through, and escapes
// all else. So no verb has to think of it, and none can forget it.
//
//   VisibleStream out(std::cout);
//   out << "\x1b[31m";   // prints \u001b[31m
class VisibleStream : public std::ostream {
 public:
  explicit VisibleStream(std::ostream& to) : std::ostream(nullptr), buffer_(to) { rdbuf(&buffer_); }
  ~VisibleStream() override { flush(); }
  VisibleStream(const VisibleStream&) = delete;
  VisibleStream& operator=(const VisibleStream&) = delete;

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::ostream& to) : to_(to) {}

   protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

   private:
    bool put(std::string_view text);

    std::ostream& to_;
    std::string partial_;  // the beginning of a character whose other bytes have not come yet
  };
  Buffer buffer_;
};

}  // namespace opwright

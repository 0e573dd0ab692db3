// The tokens of reflection text: names, numbers, quoted strings, angle brackets. Private to reflection.cpp.
//
// Every reading function moves behind its token and returns true, or records the first error and returns false.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "format/reflection.h"
#include "model/value.h"

namespace opwright::format {

class ReflectionLexer {
 public:
  // `a::b<int>::NAME` or `a.b.NAME`: the last component, and the one before it. Template arguments stay with theirs.
  struct Name {
    std::string_view text;
    std::string_view qualifier;
    std::string_view last;
    bool cut_type = false;  // `ttnn.` right before a brace: an old tool removed the type name behind the dot
  };

  explicit ReflectionLexer(std::string_view text) : text_(text) {}

  static bool is_word(char c);  // may be inside a name
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::size_t position() const { return pos_; }
  void go_back(std::size_t position) { pos_ = position; }  // to a place already passed
  bool at_end() const { return pos_ >= text_.size(); }
  // The next character, or one further on; NUL behind the end (a NUL of the text itself is no token either).
  char peek(std::size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  void skip_space() {
    while (pos_ < text_.size() && is_space(text_[pos_])) ++pos_;
  }
  bool take(char c) {
    if (at_end() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  bool take(std::string_view literal) {
    if (text_.substr(pos_, literal.size()) != literal) return false;
    pos_ += literal.size();
    return true;
  }

  bool name(Name& out);
  // `-3`, `1e-05`, `-inf`; `8-8` is a CoreCoord, `2x4` a List, `0x7f00` an opaque address.
  bool number(Value& out);
  // "…" or '…' with the escapes of JSON and Python; `""word""` is one string, not three.
  bool quoted(std::string& out);
  // From '<' to the '>' that closes it, both included.
  bool angled(std::string_view& out);
  // From here to the ']' that closes a bracket already open; the text before it.
  bool to_closing_bracket(std::string_view& out);
  // A character that a tool printed where a small integer was meant: raw, or as its escape \u00XX outside of quotes.
  bool control_character(std::string& out);

  bool fail(std::string what) { return fail_at(pos_, std::move(what)); }
  bool fail_at(std::size_t offset, std::string what);
  const ReflectionError& error() const { return error_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  bool escape(std::string& out);
  bool hex_digits(int count, unsigned& out);
  bool coordinate(std::int64_t x, Value& out);
  bool dimensions(std::int64_t first, Value& out);
  bool special_float(bool negative, Value& out);

  std::string_view text_;
  std::size_t pos_ = 0;
  ReflectionError error_;
};

}  // namespace opwright::format

#include "format/reflection_lexer.h"

#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace opwright::format {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

constexpr std::array<bool, 256> kWordTable = [] {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  table['_'] = table['$'] = true;
  return table;
}();

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

bool ReflectionLexer::is_word(char c) { return kWordTable[static_cast<unsigned char>(c)]; }

bool ReflectionLexer::fail_at(std::size_t offset, std::string what) {
  if (error_.what.empty()) error_ = {offset, std::move(what)};
  return false;
}

bool ReflectionLexer::name(Name& out) {
  const std::size_t begin = pos_;
  std::size_t component = pos_;
  while (true) {
    if (!take(kAnonymous)) {
      const std::size_t first = pos_;
      while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
      if (pos_ == first) return fail("expected a name");
      std::string_view arguments;
      if (peek() == '<' && !angled(arguments)) return false;
    }
    const std::string_view whole = text_.substr(component, pos_ - component);
    const std::size_t separator = peek() == '.' ? 1 : (peek() == ':' && peek(1) == ':') ? 2 : 0;
    const char next = peek(separator);
    out.cut_type = separator == 1 && next == '{';
    const bool goes_on = separator != 0 && (is_word(next) || text_.substr(pos_ + separator).starts_with(kAnonymous));
    if (!goes_on) {
      out.last = whole;
      out.text = text_.substr(begin, pos_ - begin);
      if (out.cut_type) ++pos_;
      return true;
    }
    out.qualifier = whole;
    pos_ += separator;
    component = pos_;
  }
}

bool ReflectionLexer::special_float(bool negative, Value& out) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (take("inf") || take("Inf")) {
    take("inity");
    value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  } else if (!take("nan") && !take("NaN")) {
    return fail("expected a number");
  }
  if (is_word(peek())) return fail("expected the end of a number");
  out = Value(value);
  return true;
}

// `8-8`, as the library prints a core: no space, no sign.
bool ReflectionLexer::coordinate(std::int64_t x, Value& out) {
  const char* const first = text_.data() + pos_ + 1;
  std::int64_t y = 0;
  const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), y);
  if (status != std::errc()) return fail("a coordinate beyond 64 bits");
  pos_ = static_cast<std::size_t>(end - text_.data());
  if (is_word(peek()) || peek() == '.') return fail("expected the end of a coordinate");
  Fields fields;
  fields.reserve(2);
  fields.emplace_back("x", Value(x));
  fields.emplace_back("y", Value(y));
  out = Value::structure("CoreCoord", std::move(fields));
  return true;
}

bool ReflectionLexer::dimensions(std::int64_t first, Value& out) {
  List list{Value(first)};
  while (peek() == 'x' && is_digit(peek(1))) {
    std::int64_t next = 0;
    const auto [end, status] = std::from_chars(text_.data() + pos_ + 1, text_.data() + text_.size(), next);
    if (status != std::errc()) return fail("a dimension beyond 64 bits");
    pos_ = static_cast<std::size_t>(end - text_.data());
    list.emplace_back(next);
  }
  if (is_word(peek())) return fail("expected the end of a list of dimensions");
  out = Value(std::move(list));
  return true;
}

bool ReflectionLexer::number(Value& out) {
  const std::size_t begin = pos_;
  const bool negative = take('-');
  if (!is_digit(peek())) return special_float(negative, out);
  if (peek() == '0' && peek(1) == 'x' && hex_value(peek(2)) >= 0 && !negative) {
    for (pos_ += 2; hex_value(peek()) >= 0; ++pos_) {
    }
    if (is_word(peek())) return fail("expected the end of an address");
    out = Value::opaque("address", "");  // where something lay in one run: never part of what it is
    return true;
  }
  std::int64_t small = 0;
  const std::size_t digits = pos_;
  for (; pos_ < text_.size() && is_digit(text_[pos_]); ++pos_) {
    if (pos_ - digits < 18) small = small * 10 + (text_[pos_] - '0');
  }
  const bool fits = pos_ - digits <= 18;
  bool whole = true;
  if (peek() == '.' && is_digit(peek(1))) {
    whole = false;
    for (++pos_; is_digit(peek()); ++pos_) {
    }
  }
  if (peek() == 'e' || peek() == 'E') {
    const std::size_t sign = peek(1) == '-' || peek(1) == '+' ? 2 : 1;
    if (!is_digit(peek(sign))) return fail("expected the end of a number");
    whole = false;
    for (pos_ += sign; is_digit(peek()); ++pos_) {
    }
  }
  const std::string_view token = text_.substr(begin, pos_ - begin);
  if (whole && fits && !negative && peek() == '-' && is_digit(peek(1))) return coordinate(small, out);
  if (whole && fits && !negative && peek() == 'x' && is_digit(peek(1))) return dimensions(small, out);
  if (is_word(peek()) || peek() == '.') return fail("expected the end of a number");

  const bool minus_zero = negative && small == 0 && fits;  // only a float has one: "-0" is how C++ prints it
  if (!whole || minus_zero) {
    double value = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (status != std::errc()) return fail_at(begin, "a number beyond the range of a double");
    out = Value(value);
    return true;
  }
  if (fits) {
    out = Value(negative ? -small : small);
    return true;
  }
  if (std::from_chars(token.data(), token.data() + token.size(), small).ec == std::errc()) {
    out = Value(small);
    return true;
  }
  const std::string_view bare = text_.substr(digits, pos_ - digits);
  std::string kept(bare.substr(bare.find_first_not_of('0')));
  if (negative) kept.insert(kept.begin(), '-');
  out = Value(BigInt{std::move(kept)});
  return true;
}

bool ReflectionLexer::hex_digits(int count, unsigned& out) {
  out = 0;
  for (int i = 0; i < count; ++i) {
    const int digit = hex_value(peek());
    if (digit < 0) return fail("expected a hexadecimal digit");
    out = out * 16 + static_cast<unsigned>(digit);
    ++pos_;
  }
  return true;
}

bool ReflectionLexer::escape(std::string& out) {
  const char c = peek(1);
  const std::size_t begin = pos_;
  pos_ += 2;
  switch (c) {
    case '"':
    case '\'':
    case '\\':
    case '/':
      out += c;
      return true;
    case 'b':
      out += '\b';
      return true;
    case 'f':
      out += '\f';
      return true;
    case 'n':
      out += '\n';
      return true;
    case 'r':
      out += '\r';
      return true;
    case 't':
      out += '\t';
      return true;
    case 'x':
    case 'u':
      break;
    default:
      return fail_at(begin, "an unknown escape");
  }
  unsigned code = 0;
  if (!hex_digits(c == 'x' ? 2 : 4, code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    unsigned low = 0;
    if (!take("\\u") || !hex_digits(4, low) || low < 0xDC00 || low >= 0xE000) {
      return fail_at(begin, "half of a surrogate pair");
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    return fail_at(begin, "half of a surrogate pair");
  }
  append_utf8(out, code);
  return true;
}

bool ReflectionLexer::quoted(std::string& out) {
  const char quote = peek();
  const std::size_t begin = pos_++;
  if (quote == '"' && peek() == '"' && is_word(peek(1))) {  // a tool quoted what was quoted already
    if (!quoted(out)) return false;
    return take('"') || fail("expected the second closing quote");
  }
  while (true) {
    const std::size_t run = pos_;
    while (pos_ < text_.size() && text_[pos_] != quote && text_[pos_] != '\\') ++pos_;
    out.append(text_, run, pos_ - run);
    if (at_end()) return fail_at(begin, "a string without its closing quote");
    if (take(quote)) return true;
    if (!escape(out)) return false;
  }
}

bool ReflectionLexer::angled(std::string_view& out) {
  const std::size_t begin = pos_;
  std::size_t open = 0;
  for (; pos_ < text_.size(); ++pos_) {
    if (text_[pos_] == '<') ++open;
    if (text_[pos_] == '>' && text_[pos_ - 1] != '-' && --open == 0) {
      out = text_.substr(begin, ++pos_ - begin);
      return true;
    }
  }
  return fail_at(begin, "'<' without its '>'");
}

bool ReflectionLexer::to_closing_bracket(std::string_view& out) {
  const std::size_t begin = pos_;
  std::size_t open = 1;
  for (; pos_ < text_.size(); ++pos_) {
    if (text_[pos_] == '[') ++open;
    if (text_[pos_] == ']' && --open == 0) {
      out = text_.substr(begin, pos_++ - begin);
      return true;
    }
  }
  return fail_at(begin, "'[' without its ']'");
}

bool ReflectionLexer::control_character(std::string& out) {
  const auto is_control = [](unsigned code) { return code < 0x20 || code == 0x7F; };
  if (peek() == '\\') {
    const std::size_t begin = pos_;
    unsigned code = 0;
    if (!take("\\u") || !hex_digits(4, code) || !is_control(code)) return fail_at(begin, "expected a value");
    out = static_cast<char>(code);
    return true;
  }
  if (at_end() || !is_control(static_cast<unsigned char>(peek()))) return fail("expected a value");
  out = text_[pos_++];
  return true;
}

}  // namespace opwright::format

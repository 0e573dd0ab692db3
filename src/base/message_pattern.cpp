#include "base/message_pattern.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace opwright {
namespace {

constexpr std::size_t kMostBytes = 400;  // what comes later never told two causes apart
constexpr std::size_t kHashDigits = 12;  // a shorter word may be English

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_address(std::string_view word) {
  return word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') &&
         std::all_of(word.begin() + 2, word.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}
bool is_hash(std::string_view word) {
  return word.size() >= kHashDigits && std::any_of(word.begin(), word.end(), is_digit) &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}
bool is_shape(std::string_view word) {  // 1x128x64
  return word.find('x') != std::string_view::npos && is_digit(word.back()) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == 'x'; });
}

// The end of the number that begins at `from`: digits, a fraction, an exponent.
std::size_t number_end(std::string_view text, std::size_t from) {
  const auto digits = [&](std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  };
  std::size_t end = digits(from);
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = digits(end + 1);
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t exponent = end + 1 + (text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0);
    if (exponent < text.size() && is_digit(text[exponent])) end = digits(exponent);
  }
  return end;
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      ++i;
    } else if (is_word(c)) {
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      if (is_address(word)) {
        out += "0x…";
      } else if (is_shape(word)) {
        out += "[N…]";
      } else if (is_hash(word)) {
        out += "#";
      } else if (is_digit(c)) {
        if (!out.empty() && out.back() == '-' && (out.size() == 1 || !is_word(out[out.size() - 2]))) out.pop_back();
        end = std::max(i + 1, number_end(text, i));
        out += 'N';
        while (end < text.size() && is_word(text[end])) out += text[end++];  // a unit: 30s
      } else {
        out += word;
      }
      i = end;
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

// "[N, N, N]" and "(N,N)" are "[N…]": two shapes of different rank are no two causes.
std::string without_lists(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '[' || text[i] == '(') {
      const char close = text[i] == '[' ? ']' : ')';
      std::size_t end = i + 1;
      while (end < text.size() && (text[end] == 'N' || text[end] == ',' || text[end] == ' ')) ++end;
      if (end < text.size() && text[end] == close && end > i + 1) {
        out += "[N…]";
        i = end + 1;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

}  // namespace

std::string message_pattern(std::string_view message) {
  message = message.substr(0, message.find("backtrace:"));
  std::string pattern = without_lists(without_numbers(message.substr(0, kMostBytes)));
  while (!pattern.empty() && pattern.back() == ' ') pattern.pop_back();
  return pattern;
}

}  // namespace opwright

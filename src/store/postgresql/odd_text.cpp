#include "store/postgresql/odd_text.h"

#include <cstdint>
#include <cstring>

namespace opwright::store::postgresql {
namespace {

std::uint8_t at(std::string_view bytes, std::size_t place) {
  return place < bytes.size() ? static_cast<std::uint8_t>(bytes[place]) : 0;
}

// The length of the character of UTF-8 that begins here; 0: none does.
std::size_t character(std::string_view bytes, std::size_t place) {
  const auto follows = [&](std::size_t offset) { return (at(bytes, place + offset) & 0xC0) == 0x80; };
  const std::uint8_t first = at(bytes, place), second = at(bytes, place + 1);
  if (first < 0x80) return first == 0 ? 0 : 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2) || (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
      return 0;
    return 4;
  }
  return 0;
}

// U+EE00 to U+EEFF.
bool is_spelled_byte(std::string_view bytes, std::size_t place) {
  return at(bytes, place) == 0xEE && at(bytes, place + 1) >= 0xB8 && at(bytes, place + 1) <= 0xBB;
}

void append_spelled(std::string& out, std::uint8_t byte) {
  out += static_cast<char>(0xEE);
  out += static_cast<char>(0xB8 | byte >> 6);
  out += static_cast<char>(0x80 | (byte & 0x3F));
}

}  // namespace

void append_as_text(std::string& out, std::string_view bytes) {
  for (std::size_t place = 0; place < bytes.size();) {
    const std::size_t length = character(bytes, place);
    if (length == 0 || is_spelled_byte(bytes, place)) {
      append_spelled(out, at(bytes, place));
      ++place;
    } else {
      out.append(bytes, place, length);
      place += length;
    }
  }
}

std::string bytes_of_text(std::string_view text) {
  if (std::memchr(text.data(), 0xEE, text.size()) == nullptr) return std::string(text);
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    if (is_spelled_byte(text, place) && place + 2 < text.size()) {
      bytes += static_cast<char>((at(text, place + 1) & 3) << 6 | (at(text, place + 2) & 0x3F));
      place += 3;
    } else {
      bytes += text[place++];
    }
  }
  return bytes;
}

}  // namespace opwright::store::postgresql

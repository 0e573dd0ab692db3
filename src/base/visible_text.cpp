#include "base/visible_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace opwright {
namespace {

struct Range {
  std::uint32_t from, to;
};

// Sorted. Unicode's control and format characters, default-ignorable ones, and what is no character at all.
constexpr std::array kHidden{
    Range{0x00, 0x1F},        Range{0x7F, 0x9F},       Range{0xAD, 0xAD},       Range{0x34F, 0x34F},
    Range{0x61C, 0x61C},      Range{0x115F, 0x1160},   Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},
    Range{0x200B, 0x200F},    Range{0x2028, 0x202E},   Range{0x2060, 0x206F},   Range{0x2800, 0x2800},
    Range{0x3164, 0x3164},    Range{0xD800, 0xDFFF},   Range{0xFDD0, 0xFDEF},   Range{0xFE00, 0xFE0F},
    Range{0xFEFF, 0xFEFF},    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},
    Range{0x13430, 0x1343F},  Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF},
    Range{0xF0000, 0x10FFFF},
};

// All bytes are looked at: without an early end the compiler looks at many at once.
bool is_plain(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    special |= (static_cast<unsigned>(byte < 0x20) & static_cast<unsigned>(byte != '\n')) |
               static_cast<unsigned>(byte >= 0x7F);
  }
  return special == 0;
}

void append_visible(std::string& out, std::string_view text, bool lines) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.sound && (!is_hidden(point.code) || (lines && point.code == '\n')))
      out += text.substr(at, point.bytes);
    else
      append_escape(out, point.code);
    at += point.bytes;
  }
}

// Bytes that a character which begins with `lead` has; 0: none begins so.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// How many bytes at the end are the beginning of a character.
std::size_t cut_off(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) != 0x80) return length_of(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const std::size_t bytes = length_of(byte(0));
  CodePoint alone{byte(0), 1, bytes == 1};
  if (bytes <= 1 || at + bytes > text.size()) return alone;
  std::uint32_t code = byte(0) & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return alone;
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return alone;
  return {code, bytes, true};
}

bool is_hidden(std::uint32_t code) {
  const auto range = std::lower_bound(kHidden.begin(), kHidden.end(), code,
                                      [](const Range& one, std::uint32_t wanted) { return one.to < wanted; });
  return range != kHidden.end() && code >= range->from;
}

void append_escape(std::string& out, std::uint32_t code) {
  if (code == '\n' || code == '\r' || code == '\t') {
    out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    return;
  }
  const auto unit = [&out](std::uint32_t word) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(word >> shift) & 0xF];
  };
  if (code > 0xFFFF) {
    unit(0xD800 + ((code - 0x10000) >> 10));
    unit(0xDC00 + ((code - 0x10000) & 0x3FF));
  } else {
    unit(code);
  }
}

std::string visible(std::string_view text) {
  if (is_plain(text) && text.find('\n') == std::string_view::npos) return std::string(text);
  std::string out;
  append_visible(out, text, false);
  return out;
}

std::string visible_lines(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  append_visible(out, text, true);
  return out;
}

bool VisibleStream::Buffer::put(std::string_view text) {
  to_.write(text.data(), static_cast<std::streamsize>(text.size()));
  return static_cast<bool>(to_);
}

std::streamsize VisibleStream::Buffer::xsputn(const char* text, std::streamsize size) {
  std::string_view all(text, static_cast<std::size_t>(size));
  std::string joined;
  if (!partial_.empty()) {
    joined = std::exchange(partial_, "") + std::string(all);
    all = joined;
  }
  const std::size_t left = cut_off(all);
  partial_ = all.substr(all.size() - left);
  all.remove_suffix(left);
  const bool sound = is_plain(all) ? put(all) : put(visible_lines(all));
  return sound ? size : 0;
}

VisibleStream::Buffer::int_type VisibleStream::Buffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

// A flush in the middle of a character: nobody will bring the rest.
int VisibleStream::Buffer::sync() {
  bool sound = partial_.empty() || put(visible_lines(std::exchange(partial_, "")));
  to_.flush();
  return sound && to_ ? 0 : -1;
}

}  // namespace opwright

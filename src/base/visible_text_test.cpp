#include "base/visible_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace opwright {
namespace {

std::string utf8(std::uint32_t code) {
  std::string out;
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const unsigned lead = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
  out += static_cast<char>(lead | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  return out;
}

TEST(VisibleText, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(visible("\x1b[2J"), "\\u001b[2J");
  EXPECT_EQ(visible("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(visible_lines("a\nb\rc"), "a\nb\\rc");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(visible("\x7f"), "\\u007f");
  EXPECT_EQ(visible(utf8(0x9B) + "31m"), "\\u009b31m");  // the C1 form of ESC [
  EXPECT_EQ(visible("a" + utf8(0x202E) + "b"), "a\\u202eb");
  EXPECT_EQ(visible(utf8(0xE0041)), "\\udb40\\udc41");  // a tag, as JSON writes it
}

TEST(VisibleText, EveryHiddenCharacterOfTheLawIsKnown) {
  std::vector<std::uint32_t> codes{0x7F,   0xAD,   0x61C,  0x180E, 0x200B, 0x200C, 0x200D,  0x200E,
                                   0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF, 0xFFF9, 0xE0001, 0xE0100};
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t code = from; code <= to; ++code) codes.push_back(code);
  };
  add(0x00, 0x1F);
  add(0x80, 0x9F);
  add(0x202A, 0x202E);
  add(0x2066, 0x2069);
  add(0xE0020, 0xE007F);
  for (const std::uint32_t code : codes) {
    EXPECT_TRUE(is_hidden(code)) << std::hex << code;
    const std::string text = visible(utf8(code));
    EXPECT_TRUE(text.starts_with("\\")) << std::hex << code;
    for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << std::hex << code;
  }
}

TEST(VisibleText, OrdinaryTextOfAnyLanguageStays) {
  for (const char* text : {"ttnn.add", "größe", "张量", "модель", "⌈x⌉ ≤ 3 … 🙂", "C:\\path\\u001b"})
    EXPECT_EQ(visible(text), text);
}

TEST(VisibleText, BytesThatAreNoUtf8AreEscapedOneByOne) {
  EXPECT_EQ(visible("\xff"), "\\u00ff");
  EXPECT_EQ(visible("\xc3("), "\\u00c3(");                      // cut off by another character, which stays
  EXPECT_EQ(visible("\xc0\x9b"), "\\u00c0\\u009b");             // overlong
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\u00ed\\u00a0\\u0080");  // a surrogate
  EXPECT_EQ(visible("\xf5\x80\x80\x80"), "\\u00f5\\u0080\\u0080\\u0080");
  EXPECT_EQ(visible("\xe2\x80"), "\\u00e2\\u0080");
}

TEST(VisibleStream, LetsTextThroughAndNothingElse) {
  std::ostringstream to;
  {
    VisibleStream out(to);
    out << "one\n" << '\x1b' << "[31m größe " << 12 << std::string("\r\n") << utf8(0x2066);
  }
  EXPECT_EQ(to.str(), "one\n\\u001b[31m größe 12\\r\n\\u2066");
}

TEST(VisibleStream, ACharacterMayComeInPieces) {
  for (const std::string& whole : {utf8(0x202E), utf8(0xFC), utf8(0x1F642), utf8(0xE0041)}) {
    std::ostringstream to;
    VisibleStream out(to);
    for (const char c : "a" + whole + "b") out << c;
    out.flush();
    EXPECT_EQ(to.str(), "a" + visible(whole) + "b");
  }
  std::ostringstream to;
  VisibleStream out(to);
  out << "\xe2" << std::flush << "\x80\xae" << std::flush;  // a flush in between must not let the rest pass
  EXPECT_EQ(to.str(), "\\u00e2\\u0080\\u00ae");
}

TEST(VisibleStream, AFullDiskBelowIsSeenAbove) {
  std::ostringstream to;
  VisibleStream out(to);
  to.setstate(std::ios::badbit);
  out << "text";
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace opwright

#include "store/postgresql/odd_text.h"

#include <gtest/gtest.h>

#include <random>

namespace opwright::store::postgresql {
namespace {

std::string as_text(std::string_view bytes) {
  std::string text;
  append_as_text(text, bytes);
  return text;
}

TEST(OddText, LeavesTextAlone) {
  for (const char* text : {"", "a", "ttnn.add\n\"é\"", "\xE2\x82\xAC \xF0\x9F\x98\x80", "\xEE\x80\x80"})
    EXPECT_EQ(as_text(text), text);
}

TEST(OddText, SpellsWhatIsNoText) {
  EXPECT_EQ(as_text(std::string_view("\0", 1)), "\xEE\xB8\x80");
  EXPECT_EQ(as_text("\xFF"), "\xEE\xBB\xBF");
  EXPECT_EQ(as_text("\xC3"), "\xEE\xBB\x83");                                  // cut
  EXPECT_EQ(as_text("\xED\xA0\x80"), "\xEE\xBB\xAD\xEE\xBA\xA0\xEE\xBA\x80");  // a surrogate
  EXPECT_EQ(as_text("\xC0\x80"), "\xEE\xBB\x80\xEE\xBA\x80");                  // too long
  EXPECT_EQ(as_text("\xEE\xB8\x80"), "\xEE\xBB\xAE\xEE\xBA\xB8\xEE\xBA\x80");  // looks like a spelled byte
  EXPECT_EQ(as_text("\xF4\x90\x80\x80").size(), 12u);                          // behind the last character
}

TEST(OddText, EverythingComesBackAndNothingTwiceTheSame) {
  std::mt19937 random(7);
  // Bytes around the borders of UTF-8 and of the spelled ones.
  const std::string_view bytes("\0a\x7f\x80\x8f\x90\x9f\xa0\xb8\xbb\xbf\xc2\xdf\xe0\xed\xee\xef\xf0\xf4\xff", 20);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 9, ' ');
    for (char& c : text) c = bytes[random() % bytes.size()];
    const std::string spelled = as_text(text);
    EXPECT_EQ(bytes_of_text(spelled), text);
    EXPECT_EQ(spelled.find('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace opwright::store::postgresql

#include "base/json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace opwright::json {
namespace {

std::string error_of(std::string_view text) {
  Document document;
  const auto root = document.parse(text);
  return root ? "no error" : std::to_string(root.error().offset) + ": " + root.error().what;
}

TEST(JsonParse, NumbersKeepTheirText) {
  Document document;
  const auto root = document.parse(
      "[18446744073709551615, 340282366920938463463374607431768211456, -9223372036854775808, 1.50, 1E400, -0]");
  ASSERT_TRUE(root) << root.error().what;
  const char* texts[] = {
      "18446744073709551615", "340282366920938463463374607431768211456", "-9223372036854775808", "1.50", "1E400", "-0"};
  ASSERT_EQ((*root)->count, 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE((*root)->items[i].is(Kind::kNumber));
    EXPECT_EQ((*root)->items[i].text, texts[i]);
  }
}

TEST(JsonParse, IntegersBeyond64BitsAreNotCut) {
  Document document;
  const Node* root = *document.parse(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e2, Infinity, \"7\", true]");
  EXPECT_EQ(root->items[0].as_int64(), INT64_MAX);
  EXPECT_EQ(root->items[1].as_int64(), INT64_MIN);
  for (std::size_t i = 2; i < 8; ++i) EXPECT_EQ(root->items[i].as_int64(), std::nullopt) << root->items[i].text;
  EXPECT_TRUE(root->items[2].is_integer());
  for (std::size_t i = 3; i < 8; ++i) EXPECT_FALSE(root->items[i].is_integer()) << root->items[i].text;
}

TEST(JsonParse, PythonsNamesOfNonFiniteNumbersAreNumbers) {
  Document document;
  const auto root = document.parse(R"({"a": Infinity, "b": -Infinity, "c": NaN})");
  ASSERT_TRUE(root);
  for (const auto& [key, text] : {std::pair{"a", "Infinity"}, {"b", "-Infinity"}, {"c", "NaN"}}) {
    EXPECT_TRUE((*root)->find(key)->is(Kind::kNumber));
    EXPECT_EQ((*root)->find(key)->text, text);
  }
  for (const char* wrong : {"[nan]", "[inf]", "[-NaN]", "[+Infinity]", "[infinity]"})
    EXPECT_NE(error_of(wrong), "no error") << wrong;
}

TEST(JsonParse, ScalarsAndWhiteSpaceAtTheTop) {
  Document document;
  EXPECT_TRUE((*document.parse(" null\n"))->is(Kind::kNull));
  EXPECT_TRUE((*document.parse("true"))->is_true());
  EXPECT_FALSE((*document.parse("false"))->is_true());
  EXPECT_EQ((*document.parse("\t-12 "))->text, "-12");
  EXPECT_EQ((*document.parse(R"("a")"))->text, "a");
  EXPECT_EQ((*document.parse("[]"))->count, 0u);
  EXPECT_EQ((*document.parse("{ }"))->count, 0u);
}

TEST(JsonParse, StringsAreUnescaped) {
  Document document;
  const auto root = document.parse(R"(["a\"b\\\/\b\f\n\r\t", "\u00e9\ud83d\ude80", "x\u0000y", "é漢"])");
  ASSERT_TRUE(root) << root.error().what;
  EXPECT_EQ((*root)->items[0].text, "a\"b\\/\b\f\n\r\t");
  EXPECT_EQ((*root)->items[1].text, "é🚀");
  EXPECT_EQ((*root)->items[2].text, std::string_view("x\0y", 3));
  EXPECT_EQ((*root)->items[3].text, "é漢");
}

TEST(JsonParse, OfDuplicateKeysTheLastIsTakenAndTheOthersAreCounted) {
  Document document;
  const auto root = document.parse(R"({"a": 1, "b": "x", "a": 2, "\u0061": 3, "c": {"d": 1, "d": 2}})");
  ASSERT_TRUE(root);
  EXPECT_EQ((*root)->count, 3u);
  EXPECT_EQ(document.duplicate_keys(), 3u);
  EXPECT_EQ((*root)->find("a")->text, "3");
  EXPECT_EQ((*root)->find("c")->find("d")->text, "2");
  EXPECT_EQ((*root)->find("e"), nullptr);
  EXPECT_EQ((*root)->string_field("b"), "x");
  EXPECT_EQ((*root)->string_field("a"), std::nullopt);  // not a string
  EXPECT_EQ((*root)->find("b")->find("a"), nullptr);    // not an object
  std::string many = "{\"k\": 0";
  for (int i = 0; i < 100; ++i) many += ", \"k" + std::to_string(i % 70) + "\": " + std::to_string(i);
  const auto large = document.parse(many + "}");
  ASSERT_TRUE(large);
  EXPECT_EQ((*large)->count, 71u);
  EXPECT_EQ(document.duplicate_keys(), 30u);
  EXPECT_EQ((*large)->find("k29")->text, "99");
  ASSERT_TRUE(document.parse("{}"));
  EXPECT_EQ(document.duplicate_keys(), 0u);
}

TEST(JsonParse, ErrorsSayWhere) {
  EXPECT_EQ(error_of(""), "0: the text is empty");
  EXPECT_EQ(error_of(" \n "), "0: the text is empty");
  EXPECT_EQ(error_of("[1 2]"), "3: a comma, colon, key or bracket is missing or too much");
  EXPECT_EQ(error_of("{\"a\" 1}"), "5: a comma, colon, key or bracket is missing or too much");
  EXPECT_EQ(error_of("{1:2}"), "1: a comma, colon, key or bracket is missing or too much");
  EXPECT_EQ(error_of("{\"a\":[1,2,{\"b\":tru}]}"), "15: 'tru' is not a JSON value");
  EXPECT_EQ(error_of("[01]"), "1: '01' is not a JSON value");
  EXPECT_EQ(error_of(R"(["ok", "\x"])"), "7: a string has a wrong escape");
  EXPECT_EQ(error_of("[\"ab\xff\"]"), "4: a byte is not UTF-8");
  EXPECT_EQ(error_of("[1, \"a"), "4: a string is not closed; is the text cut?");
  EXPECT_EQ(error_of("[1, [2"), "6: an array or object is not closed; is the text cut?");
  EXPECT_EQ(error_of("[\"a\nb\", 1, 2, 3]"), "3: a control character stands unescaped in a string");
  EXPECT_EQ(error_of("[1] 2"), "4: there is more text after the end of the document");
  EXPECT_EQ(error_of("{}{}"), "2: there is more text after the end of the document");
}

TEST(JsonParse, WrongTextsAreRefused) {
  for (const char* text : {"[",        "{",         "[1,",       "[1,]",        "{\"a\":1,}",    "{\"a\":}",
                           "{\"a\"}",  "[1}",       "{\"a\":1]", "]",           "[1]]",          "[,1]",
                           "[1,,2]",   "[-]",       "[1.]",      "[.5]",        "[1e]",          "[1e+]",
                           "[+1]",     "[--1]",     "[0x1]",     "[truex]",     "[nulll]",       "nul",
                           "[\"a\"b]", "[\"a\n\"]", "[\"\t\"]",  "[\"\\u12\"]", "['a']",         "{\"a\":1 \"b\":2}",
                           "[1]x",     "1 2",       "null x",    "// c\n[]",    "\xef\xbb\xbf[]"})
    EXPECT_NE(error_of(text), "no error") << text;
}

TEST(JsonParse, TextBehindATopLevelStringIsRefused) {
  for (const char* text : {R"("a" "b")", R"("a" x)", R"("a"])"}) EXPECT_NE(error_of(text), "no error") << text;
}

TEST(JsonParse, DepthIsLimited) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_EQ(error_of(nested(256)), "no error");
  EXPECT_EQ(error_of(nested(300)), "257: nested more than 256 levels deep; the limit is 256 (--max-depth raises it)");
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += "{\"a\":";
  EXPECT_NE(error_of(objects + "1" + std::string(300, '}')), "no error");
  EXPECT_NE(error_of(std::string(1'000'000, '[')), "no error");  // no stack is used up
}

TEST(JsonParse, ADocumentIsUsedAgainAfterAnError) {
  Document document;
  ASSERT_FALSE(document.parse(R"([1, {"a": [2, x]}])"));
  const auto root = document.parse(R"({"k": [1, 2], "l": {"m": 3}})");
  ASSERT_TRUE(root);
  EXPECT_EQ((*root)->count, 2u);
  EXPECT_EQ((*root)->find("k")->count, 2u);
  EXPECT_EQ((*root)->find("l")->find("m")->text, "3");
  std::string large = "[0";
  for (int i = 1; i < 20000; ++i) large += ", \"text " + std::to_string(i) + "\"";
  const auto many = document.parse(large + "]");
  ASSERT_TRUE(many);
  ASSERT_EQ((*many)->count, 20000u);
  EXPECT_EQ((*many)->items[19999].text, "text 19999");
  Document moved = std::move(document);
  EXPECT_EQ((*many)->items[1].text, "text 1");
}

TEST(JsonMinify, LeavesOnlyWhatMatters) {
  std::vector<char> buffer;
  EXPECT_EQ(minify("{ \"a b\" :\n[ 1 ,\t2 ] , \"c\\\" d\" : \" \" }\r\n", buffer), "{\"a b\":[1,2],\"c\\\" d\":\" \"}");
  EXPECT_EQ(minify(" 1 ", buffer), "1");  // the buffer is longer than the result now
  EXPECT_EQ(minify("[\"open]", buffer), std::nullopt);
}

std::size_t naive_first_invalid(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    if (lead >= 0xC2 && lead <= 0xDF)
      length = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
      length = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
      length = 4;
    else if (lead >= 0x80)
      return i;
    if (i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    }
    i += length;
  }
  return text.size();
}

// Where the parser says that `text`, as a string, is not UTF-8; its size when it is.
std::size_t first_invalid(std::string_view text) {
  Document document;
  const auto root = document.parse("[\"" + std::string(text) + "\"]");
  return root ? text.size() : root.error().offset - 2;
}

TEST(JsonUtf8, TheFirstWrongSequenceIsFound) {
  EXPECT_EQ(first_invalid("aé漢🚀"), 10u);
  EXPECT_EQ(first_invalid("a\xff"), 1u);
  EXPECT_EQ(first_invalid("\x80"), 0u);
  std::string good;
  for (int i = 0; i < 40; ++i) good += i % 3 == 0 ? "é漢🚀" : "plain text ";
  ASSERT_EQ(first_invalid(good), good.size());
  for (std::size_t cut = 1; cut < good.size(); ++cut) {
    const std::string_view text = std::string_view(good).substr(0, cut);
    EXPECT_EQ(first_invalid(text), naive_first_invalid(text)) << cut;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string text = good;
    text[random() % text.size()] = "\xff\x41\xfe"[random() % 3];
    EXPECT_EQ(first_invalid(text), naive_first_invalid(text));
  }
}

TEST(JsonPosition, CountsLinesAndColumnsFromOne) {
  const auto at = [](std::size_t offset) {
    const Position position = position_of("ab\n\ncd", offset);
    return std::pair(position.line, position.column);
  };
  EXPECT_EQ(at(0), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(at(2), std::pair(std::size_t{1}, std::size_t{3}));  // the line end belongs to its line
  EXPECT_EQ(at(3), std::pair(std::size_t{2}, std::size_t{1}));
  EXPECT_EQ(at(5), std::pair(std::size_t{3}, std::size_t{2}));
  EXPECT_EQ(at(99), std::pair(std::size_t{3}, std::size_t{3}));
  EXPECT_EQ(describe("ab\n\ncd", {5, "wrong"}), "byte 5 (line 3, column 2): wrong");
}

}  // namespace
}  // namespace opwright::json

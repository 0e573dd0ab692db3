// Every expected text was printed by Python 3.11: json.dumps, or str for the reprs.
#include "base/json_write.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace opwright::json {
namespace {

std::string python(std::string_view text, Style style = {}) {
  Document document;
  const auto root = document.parse(text);
  EXPECT_TRUE(root) << text;
  std::string out;
  if (root) append_python(out, **root, style);
  return out;
}

std::string repr(std::string_view text) {
  Document document;
  const auto root = document.parse(text);
  EXPECT_TRUE(root) << text;
  std::string out;
  if (root) append_python_repr(out, **root);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

TEST(JsonWrite, FloatsAreShortestAndAlwaysFloats) {
  const std::pair<double, const char*> cases[] = {{0.0, "0.0"},
                                                  {-0.0, "-0.0"},
                                                  {0.1, "0.1"},
                                                  {1.0, "1.0"},
                                                  {1e-05, "1e-05"},
                                                  {0.0001, "0.0001"},
                                                  {1e16, "1e+16"},
                                                  {1e15, "1000000000000000.0"},
                                                  {123456789012345680.0, "1.2345678901234568e+17"},
                                                  {9007199254740993.0, "9007199254740992.0"},
                                                  {9999999999999998.0, "9999999999999998.0"},
                                                  {5e-324, "5e-324"},
                                                  {2.2250738585072014e-308, "2.2250738585072014e-308"},
                                                  {1.7976931348623157e308, "1.7976931348623157e+308"},
                                                  {1e22, "1e+22"},
                                                  {1e23, "1e+23"},
                                                  {-2.5, "-2.5"},
                                                  {3.141592653589793, "3.141592653589793"},
                                                  {0.30000000000000004, "0.30000000000000004"},
                                                  {1e100, "1e+100"},
                                                  {1.5e-7, "1.5e-07"},
                                                  {8.589934592e9, "8589934592.0"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(float_text(value), text);
  EXPECT_EQ(float_text(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(float_text(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(float_text(std::nan("")), "NaN");
}

TEST(JsonWrite, NumbersAsPythonPrintsThemAfterReadingThem) {
  const std::pair<const char*, const char*> cases[] = {{"-0", "0"},
                                                       {"0", "0"},
                                                       {"1e5", "100000.0"},
                                                       {"1E5", "100000.0"},
                                                       {"1e-400", "0.0"},
                                                       {"-1e-400", "-0.0"},
                                                       {"1e400", "Infinity"},
                                                       {"0.10", "0.1"},
                                                       {"-1e400", "-Infinity"},
                                                       {"1.0e0", "1.0"},
                                                       {"12E-1", "1.2"},
                                                       {"5e-325", "0.0"},
                                                       {"-0.0", "-0.0"},
                                                       {"1e+2", "100.0"},
                                                       {"NaN", "NaN"},
                                                       {"-Infinity", "-Infinity"},
                                                       {"100000000000000000000000", "100000000000000000000000"}};
  for (const auto& [token, text] : cases) {
    std::string out;
    append_number(out, token);
    EXPECT_EQ(out, text) << token;
  }
}

TEST(JsonWrite, EverythingOutsidePrintableAsciiIsEscaped) {
  EXPECT_EQ(quoted(std::string_view("a\"b\\c/\n\r\t\b\f\0\x1f\x7f", 14)),
            R"("a\"b\\c/\n\r\t\b\f\u0000\u001f\u007f")");  // 0x7f too
  EXPECT_EQ(quoted("\u0080é漢🚀\uffff"), R"("\u0080\u00e9\u6f22\ud83d\ude80\uffff")");
  EXPECT_EQ(quoted(" ~!'"), "\" ~!'\"");
  EXPECT_EQ(quoted(""), "\"\"");
  // Not UTF-8, which a reader never lets in: no crash, nothing read behind the end.
  for (const char* broken : {"\xf0", "\xe6\xbc", "\xc3", "\x80x", "\xff\xff"}) EXPECT_GE(quoted(broken).size(), 8u);
}

constexpr std::string_view kDocument =
    R"({"b": [1, 2.50, {}], "a": {"z":null,"é":true,"Z":false,"🚀":1,"\uffff":2}, "e": [], "c": "x\u0007"})";

TEST(JsonWrite, OneLine) {
  EXPECT_EQ(python(kDocument),
            R"({"b": [1, 2.5, {}], "a": {"z": null, "\u00e9": true, "Z": false, "\ud83d\ude80": 1, "\uffff": 2}, )"
            R"("e": [], "c": "x\u0007"})");
}

TEST(JsonWrite, KeysAreSortedByCodePoint) {  // U+1F680 behind U+FFFF: not as UTF-16 would sort
  EXPECT_EQ(python(kDocument, {.sort_keys = true}),
            R"({"a": {"Z": false, "z": null, "\u00e9": true, "\uffff": 2, "\ud83d\ude80": 1}, )"
            R"("b": [1, 2.5, {}], "c": "x\u0007", "e": []})");
}

TEST(JsonWrite, Indented) {
  EXPECT_EQ(python(R"({"b": [1, {}], "a": {"z": [[]]}, "e": []})", {.sort_keys = true, .indent = 2}),
            "{\n  \"a\": {\n    \"z\": [\n      []\n    ]\n  },\n  \"b\": [\n    1,\n    {}\n  ],\n  \"e\": []\n}");
  EXPECT_EQ(python("[1, 2]", {.indent = 0}), "[\n1,\n2\n]");
  Document document;
  std::string inner;
  append_python(inner, **document.parse("[1]"), {.indent = 2}, 3);
  EXPECT_EQ(inner, "[\n        1\n      ]");  // as a part of a text that is three levels deep
}

// json.dumps(…, sort_keys=True, separators=(",", ":"), ensure_ascii=False) of Python 3.11
TEST(JsonWrite, WithoutBlanksAndEscapes) {
  EXPECT_EQ(python(R"({"b": [1, {"é": "\u0001\u007f\ud83d\ude80\"\\\n"}], "a": {}})",
                   {.sort_keys = true, .ascii = false, .blanks = false}),
            "{\"a\":{},\"b\":[1,{\"é\":\"\\u0001\x7f🚀\\\"\\\\\\n\"}]}");
  EXPECT_EQ(python(R"(["é", {"k": 1}])", {.ascii = false}), R"(["é", {"k": 1}])");
  EXPECT_EQ(python(R"(["é", {"k": 1}])", {.blanks = false}), R"(["\u00e9",{"k":1}])");
  EXPECT_EQ(python(R"([{"k": 1}, 2])", {.indent = 1, .blanks = false}), "[\n {\n  \"k\":1\n },\n 2\n]");
}

TEST(JsonWrite, FiguresThatAreNotFiniteAreStrings) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Document document;
  const auto again = [&](const std::string& text) { return figure_of(**document.parse(text)); };
  for (const double value : {0.1, -0.0, 1e308, kInfinity, -kInfinity}) EXPECT_EQ(again(figure_text(value)), value);
  EXPECT_EQ(figure_text(kInfinity), "\"inf\"");
  EXPECT_EQ(figure_text(-kInfinity), "\"-inf\"");
  EXPECT_EQ(figure_text(std::nan("")), "\"nan\"");
  EXPECT_TRUE(std::isnan(*again("\"nan\"")));
  EXPECT_TRUE(std::isnan(*again("NaN")));
  EXPECT_EQ(again("-Infinity"), -kInfinity);
  for (const char* other : {"null", "true", "\"12\"", "\"\"", "[1]", "{}"}) EXPECT_FALSE(again(other)) << other;
}

TEST(JsonWrite, OfDuplicateKeysTheLastIsWrittenWhenSorted) {
  EXPECT_EQ(python(R"({"b": 1, "a": 2, "b": 3, "a": 4, "b": 5})", {.sort_keys = true}), R"({"a": 4, "b": 5})");
}

TEST(JsonWrite, OfDuplicateKeysTheLastIsWrittenInTheFirstPlace) {
  EXPECT_EQ(python(R"({"b": 1, "a": 2, "b": 3})"), R"({"b": 3, "a": 2})");
  EXPECT_EQ(repr(R"({"b": 1, "a": 2, "b": 3})"), R"({'b': 3, 'a': 2})");
}

TEST(JsonWrite, Repr) {
  EXPECT_EQ(repr(R"([null, true, false, 1.0, -0, Infinity, -Infinity, NaN, "plain", "it's", "say \"hi\""])"),
            R"([None, True, False, 1.0, 0, inf, -inf, nan, 'plain', "it's", 'say "hi"'])");
  EXPECT_EQ(repr(R"(["both ' and \"", "a\\b\n\r\t\u0001\u007f", "é", {"k": [], "q'": {}}])"),
            R"(['both \' and "', 'a\\b\n\r\t\x01\x7f', 'é', {'k': [], "q'": {}}])");
}

TEST(JsonWrite, ReprEscapesWhatIsNotPrintable) { EXPECT_EQ(repr(R"("\u0085\u00a0\u200b")"), R"('\x85\xa0\u200b')"); }

// Names of a native trace may hold any byte; what is written must be JSON whatever they are.
TEST(JsonWrite, BytesThatAreNoUtf8BecomeValidEscapes) {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_quoted(out, text);
    return out;
  };
  EXPECT_EQ(quoted("\xc3\"x"), "\"\\u00c3\\\"x\"");  // the quote behind it is not swallowed
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"");
  EXPECT_EQ(quoted("\xf7\xbf\xbf\xbf"), "\"\\u00f7\\u00bf\\u00bf\\u00bf\"");
  Document document;
  std::string all;
  for (int a = 0; a < 256; ++a)
    for (const char* b : {"", "\"", "\x80", "\xa0\x80", "\xbf\xbf\xbf"}) (all += static_cast<char>(a)) += b;
  EXPECT_TRUE(document.parse(quoted(all)));
}

}  // namespace
}  // namespace opwright::json

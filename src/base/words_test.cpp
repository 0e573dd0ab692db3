#include "base/words.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace opwright {
namespace {

TEST(CsvCell, WhatBeginsAFormulaIsText) {
  for (const char* text :
       {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", " =1", "\"=1\"", "--flag", "＝1", "−1", "-"})
    EXPECT_EQ(csv_cell(text).find_first_not_of('"'), csv_cell(text).find('\'')) << text;
  EXPECT_EQ(csv_cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
}

TEST(CsvCell, NumbersStayNumbers) {
  for (const char* text : {"-1", "+2", "-1.5e-3", "0.99", "-.5", "1e5", "-inf", "nan", "12"})
    EXPECT_EQ(csv_cell(text), text);
  EXPECT_EQ(csv_cell("-1 or 2"), "'-1 or 2");
}

TEST(CsvCell, TheGuardCanBeTakenAway) {
  // docs/formats/text.md: one apostrophe in front is not of the text.
  for (const std::string text : {"=1", "'quoted'", "plain", "'", "-x"}) {
    std::string cell = csv_cell(text);
    if (cell.starts_with('\'')) cell.erase(0, 1);
    EXPECT_EQ(cell, text);
  }
}

TEST(CsvCell, ControlsAreEscapedAndLinesAreQuoted) {
  EXPECT_EQ(csv_cell("a\x1b[2Jb"), "a\\u001b[2Jb");
  EXPECT_EQ(csv_cell("\t=1"), "\\t=1");
  EXPECT_EQ(csv_cell("a\r\nb"), "\"a\\r\nb\"");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
}

TEST(Width, CharactersOfTwoColumnsAndOfNone) {
  EXPECT_EQ(width_of("größe"), 5U);
  EXPECT_EQ(width_of("张量"), 4U);
  EXPECT_EQ(width_of("e\u0301"), 1U);
  EXPECT_EQ(cut_text("张量张量", 5), "张量…");
  EXPECT_EQ(cut_text("abcdef", 4), "abc…");
  EXPECT_EQ(cut_text("abcd", 4), "abcd");
}

// What bash makes of it is what we meant, and nothing of it reaches the terminal that shows it.
TEST(ShellWord, BashReadsBackEveryByte) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& text : {all, std::string("it's\x1b[2J 7"),
                                  std::string("a\xe2\x80\xae"
                                              "b\\n"),
                                  std::string("plain")}) {
    const std::string word = shell_word(text);
    for (const char c : word) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    EXPECT_EQ(word.find("\xe2\x80\xae"), std::string::npos);
    const auto said = capture({"/bin/bash", "-c", "printf %s " + word}, {.seconds = 30});
    ASSERT_TRUE(said);
    EXPECT_EQ(said->out, text);
  }
}

}  // namespace
}  // namespace opwright

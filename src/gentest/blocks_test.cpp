#include "gentest/blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opwright::gentest {
namespace {

using testing::HasSubstr;

const std::vector<Block> kTwo{{"one", "a = 1\n"}, {"two", "b = 2\n"}};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  const auto updated = update_blocks(text, kTwo, "# ", "f.py");
  return updated ? "" : updated.error().message;
}

TEST(Blocks, AFileOfBlocksUpdatedWithThemIsTheSame) {
  const std::string text = file_of(kTwo, "# ");
  const auto updated = update_blocks(text, kTwo, "# ", "f.py");
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(updated->text, text);
  EXPECT_EQ(updated->unchanged, 2U);
}

TEST(Blocks, WhatPeopleAddedStays) {
  std::string text = "# mine, before\n" + file_of(kTwo, "# ") + "# mine, after, without a newline";
  text = replaced(text, "<<<\n\n#", "<<<\n# mine, between: opwright gentest: is a tool\n\n#");
  const std::vector<Block> others{{"two", "b = 3\n"}, {"three", "c = 4\n"}};
  const auto updated = update_blocks(text, others, "# ", "f.py");
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_THAT(updated->text, HasSubstr("# mine, before\n"));
  EXPECT_THAT(updated->text, HasSubstr("# mine, between: opwright gentest: is a tool\n"));
  EXPECT_TRUE(updated->text.ends_with("# mine, after, without a newline"));
  EXPECT_THAT(updated->text, HasSubstr("b = 3\n"));
  EXPECT_THAT(updated->text, HasSubstr("c = 4\n"));
  EXPECT_THAT(updated->text, Not(HasSubstr("a = 1")));
  EXPECT_EQ(updated->rewritten, 1U);
  EXPECT_EQ(updated->added, 1U);
  EXPECT_EQ(updated->removed, 1U);
  const auto again = update_blocks(updated->text, others, "# ", "f.py");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, updated->text);
}

TEST(Blocks, DamageIsRefusedWithItsLine) {
  const std::string text = file_of(kTwo, "# ");
  EXPECT_THAT(complaint(replaced(text, "a = 1", "a = 7")), HasSubstr("f.py:3: block one was changed by hand"));
  EXPECT_THAT(complaint(replaced(text, "# <<< opwright gentest: one", "# one")), HasSubstr("whose end is missing"));
  EXPECT_THAT(complaint(replaced(text, "# >>> opwright gentest: two >>>", "# two")),
              HasSubstr("whose beginning is missing"));
  EXPECT_THAT(complaint(replaced(text, "# >>> opwright", "## >>> opwright")), HasSubstr("f.py:1: a damaged mark"));
  EXPECT_THAT(complaint(replaced(text, " <<<\n", "\n")), HasSubstr("a damaged mark"));
  EXPECT_THAT(complaint(text.substr(0, text.rfind("# <<<"))), HasSubstr("the end of block two is missing"));
  EXPECT_THAT(complaint(text + "\n" + text), HasSubstr("block one stands twice"));
}

TEST(Blocks, AFileOfSomebodyElseIsNotTouched) {
  EXPECT_THAT(complaint("print('mine')\n"), HasSubstr("not made by opwright gentest"));
  EXPECT_THAT(complaint(""), HasSubstr("not made by opwright gentest"));
}

}  // namespace
}  // namespace opwright::gentest

#include "model/case_name.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(CaseName, IsTheBeginningOfTheKeyElseOfTheLine) {
  CaseRecord record;
  record.key = "054f8d1bc0ffee0000000000000000aa";
  record.line = "ttnn.add(1)";
  EXPECT_EQ(case_name(record), "@054f8d1b");
  for (const char* name : {"@054f", "@054f8d1b", "@054f8d1bc0ff"}) EXPECT_TRUE(is_named(record, name)) << name;
  for (const char* name : {"@054", "054f8d1b", "@054e", "@", "", "@054F"}) EXPECT_FALSE(is_named(record, name)) << name;
  record.key.clear();
  const std::string by_line = case_name(record);
  EXPECT_EQ(by_line.size(), 9U);
  EXPECT_TRUE(is_named(record, by_line));
  record.line = "ttnn.add(2)";
  EXPECT_FALSE(is_named(record, by_line));
}

}  // namespace
}  // namespace opwright

#include "base/file_name.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(FileName, KeepsPlainNamesAndNeverLeavesItsFolder) {
  EXPECT_EQ(file_name_part("ttnn_add-1", 40), "ttnn_add-1");
  EXPECT_EQ(file_name_part("../../etc/passwd", 40), "______etc_passwd");
  EXPECT_EQ(file_name_part(std::string_view("a\0b\x1b\xff", 5), 40), "a_b__");
}

TEST(FileName, LongNamesAreCutAndStayDistinct) {
  const std::string long_name(300, 'a');
  const std::string one = file_name_part(long_name + "1", 100), two = file_name_part(long_name + "2", 100);
  EXPECT_EQ(one.size(), 100U);
  EXPECT_NE(one, two);
  EXPECT_EQ(one, file_name_part(long_name + "1", 100));
  EXPECT_EQ(file_name_part(std::string(100, 'a'), 100), std::string(100, 'a'));
}

TEST(FileName, NamesThatDifferInCaseOnlyAreTwoFilesEverywhere) {
  EXPECT_EQ(lower_file_name_part("add", 40), "add");
  const std::string upper = lower_file_name_part("Add", 40), shouted = lower_file_name_part("ADD", 40);
  EXPECT_TRUE(upper.starts_with("add_"));
  EXPECT_NE(upper, shouted);
  EXPECT_EQ(lower_file_name_part(std::string(300, 'A'), 60).size(), 60U);
}

}  // namespace
}  // namespace opwright

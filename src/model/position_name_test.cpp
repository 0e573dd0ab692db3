#include "model/position_name.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(PositionName, PositionsHaveNamesAndBack) {
  for (const std::size_t position : {0u, 7u, 12u, 9999u})
    EXPECT_EQ(position_of_name(position_name(position)), static_cast<int>(position));
  EXPECT_EQ(position_name(3), "arg3");
}

TEST(PositionName, OtherNamesAreNoPositions) {
  for (const char* name : {"", "arg", "arg01", "arg-1", "arg+1", "arg1x", "arg10000", "Arg1", "argmax", "1", "arg 1"})
    EXPECT_EQ(position_of_name(name), -1) << name;
  EXPECT_EQ(position_of_number("12"), 12);
  for (const char* digits : {"", "012", "-1", "12345", "1.0"}) EXPECT_EQ(position_of_number(digits), -1) << digits;
}

}  // namespace
}  // namespace opwright

#include "model/op_config.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(OpConfig, NamesOfOperations) {
  EXPECT_EQ(dotted("ttnn::experimental::rotary_embedding"), "ttnn.experimental.rotary_embedding");
  EXPECT_EQ(dotted("ttnn.add"), "ttnn.add");
  EXPECT_EQ(dotted("a:b"), "a:b");  // one colon is no separator
  EXPECT_EQ(dotted(":::"), ".:");
  EXPECT_EQ(dotted(""), "");
  EXPECT_EQ(short_name("ttnn.experimental.rotary_embedding"), "rotary_embedding");
  EXPECT_EQ(short_name("ttnn::add"), "add");
  EXPECT_EQ(short_name("add"), "add");
}

TEST(OpConfig, Conventions) {
  EXPECT_EQ(name_of(Convention::kPython), "python");
  EXPECT_EQ(name_of(Convention::kCpp), "cpp");
}

}  // namespace
}  // namespace opwright

#include "exec/case_line.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(CaseLine, GivesBackTheCase) {
  for (const char* line :
       {"ttnn.relu(input_tensor=tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))",
        "ttnn::add(arg0=tensor([32] FLOAT32 ROW_MAJOR DEVICE), arg1=0.5, arg2=none)", "ttnn.arange()"}) {
    const auto config = parse_case(line);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_EQ(case_line(*config), line);
  }
  EXPECT_EQ(parse_case("ttnn::add(arg0=1)")->convention, Convention::kCpp);
  EXPECT_EQ(parse_case("ttnn::add(arg0=1)")->op, "ttnn.add");
  EXPECT_EQ(case_line(*parse_case("ttnn.add(1, 2)")), "ttnn.add(arg0=1, arg1=2)");
}

TEST(CaseLine, IsOneLineWhateverTheNameIs) {
  for (const char* name : {"", "ttnn.a\nd", "ttnn.add(", "\"", "a\\\"b", "two words"}) {
    const std::string line = case_line({.op = name, .args = {{"a", Value(std::int64_t{1})}}});
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    const auto again = parse_case(line);
    ASSERT_TRUE(again.has_value()) << line << ": " << again.error().message;
    EXPECT_EQ(again->op, name);
    EXPECT_EQ(case_line(*again), line);
  }
}

TEST(CaseLine, SaysWhatIsWrong) {
  for (const char* line : {"", "ttnn.add", "(1)", "ttnn.a\nd(1)", "ttnn.\"add(1)", "\"ttnn.add(1)", "\"ttnn\" (1)",
                           "\"\\x\"(1)", "ttnn.add(a=", "ttnn.add(a=[1)"}) {
    const auto config = parse_case(line);
    ASSERT_FALSE(config.has_value()) << line;
    EXPECT_EQ(config.error().code, ErrorCode::kUsage);
  }
}

TEST(CaseLine, RepeatsWithQuotesAndSeed) {
  EXPECT_EQ(repeat_command("ttnn.add(arg0=\"it's\")", "sim:n300", {.seed = 7}),
            "opwright run --case 'ttnn.add(arg0=\"it'\\''s\")' --device sim:n300 --seed 7");
  EXPECT_EQ(repeat_command("a()", "null", {.distribution = Distribution::kUniform01}),
            "opwright run --case 'a()' --device null --data uniform");
}

}  // namespace
}  // namespace opwright

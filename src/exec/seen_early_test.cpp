#include "exec/seen_early.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opwright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SeenEarly, CountsOperationsAndClassesAtEachMark) {
  std::vector<PlannedCase> cases(4);
  cases[1].features.dtype = DType::kBfloat8B;
  cases[2].op = 1;
  cases[3].op = 1;
  const std::vector<std::uint32_t> chosen{0, 1, 2, 3};
  SeenEarly seen(cases, chosen);
  EXPECT_EQ(seen.text(100, 2, true), "");
  seen.ended(0, 0.5, 0.5);
  seen.ended(1, 9, 8.5);
  seen.ended(2, 20, 11);
  seen.ended(3, 70, 50);
  const std::string text = seen.text(70, 2, true);
  EXPECT_THAT(text, HasSubstr("first result after 0.5 s, every operation seen after 20.0 s"));
  EXPECT_THAT(
      text, HasSubstr("seen after 10 s: 1 of 2 operations, 2 of 3 classes of dtype, layout, memory and size, 2 cases"));
  EXPECT_THAT(text, HasSubstr("seen after 60 s: 2 of 2 operations, 3 of 3 classes"));
  EXPECT_THAT(text, HasSubstr("all in 70.0 s; the best order of these cases on 2 workers takes 50.0 s (+40.0 %)"));
  EXPECT_THAT(seen.text(30, 2, true), Not(HasSubstr("after 60 s")));
  EXPECT_THAT(seen.text(70, 2, false), Not(HasSubstr("best order"))) << "what did not run has no time";
  EXPECT_EQ(seen.text(9, 2, true), "") << "a short run needs no such lines";
}

}  // namespace
}  // namespace opwright

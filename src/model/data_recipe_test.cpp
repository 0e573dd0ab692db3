#include "model/data_recipe.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(DataRecipe, WhatIsPrintedIsReadAsTheSame) {
  for (const char* text : {"normal", "zeros", "special", "normal:weight@17", "normal:tensors#1@16-31", "ones:a@0=3",
                           "normal:a@5-6=-2.5"}) {
    const auto recipe = parse_data(text);
    ASSERT_TRUE(recipe) << text;
    EXPECT_EQ(data_text(*recipe), text);
  }
  const auto kept = parse_data("integers:bias@4-9=0.5");
  ASSERT_TRUE(kept && kept->kept);
  EXPECT_EQ(kept->distribution, Distribution::kIntegers);
  EXPECT_EQ(*kept->kept, (KeptNumbers{"bias", 4, 9, 0.5}));
}

TEST(DataRecipe, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "pink", "normal:", "normal:@1", "normal:a", "normal:a@", "normal:a@-1", "normal:a@5-4",
        "normal:a@1=", "normal:a@1=x", "normal:a@1=inf", "normal:a@1 ", "normal:a@99999999999999999999"})
    EXPECT_FALSE(parse_data(text)) << text;
}

}  // namespace
}  // namespace opwright

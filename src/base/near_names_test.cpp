#include "base/near_names.h"

#include <gtest/gtest.h>

#include <array>

namespace opwright {
namespace {

using Names = std::vector<std::string_view>;

constexpr std::array<std::string_view, 12> kOps{"ttnn.add",
                                                "ttnn.addcmul",
                                                "ttnn.matmul",
                                                "ttnn.linear",
                                                "ttnn.softmax",
                                                "ttnn.sigmoid",
                                                "ttnn.sigmoid_accurate",
                                                "ttnn.experimental.rotary_embedding",
                                                "ttnn.to_layout",
                                                "ttnn.layer_norm",
                                                "ttnn.transformer.softmax",
                                                "ttnn.mul"};

TEST(NearNames, ATypingErrorIsForgiven) {
  EXPECT_EQ(near_names("ttnn.matmull", kOps).front(), "ttnn.matmul");
  EXPECT_EQ(near_names("sofmax", kOps).front(), "ttnn.softmax");
  EXPECT_EQ(near_names("lienar", kOps), Names{"ttnn.linear"});  // swapped neighbours are one error
  EXPECT_EQ(near_names("layernorm", kOps), Names{"ttnn.layer_norm"});
}

TEST(NearNames, CaseAndColonsDoNotCount) {
  EXPECT_EQ(near_names("TTNN::Add", kOps).front(), "ttnn.add");
  EXPECT_EQ(near_names("Linear", kOps), Names{"ttnn.linear"});
}

TEST(NearNames, TheBeginningAndAPartAreNear) {
  EXPECT_EQ(near_names("ad", kOps).front(), "ttnn.add");
  EXPECT_EQ(near_names("rotary", kOps), Names{"ttnn.experimental.rotary_embedding"});
  EXPECT_EQ(near_names("accurate", kOps), Names{"ttnn.sigmoid_accurate"});
  EXPECT_EQ(near_names("ttnn.rotary_embedding", kOps).front(), "ttnn.experimental.rotary_embedding");
  EXPECT_EQ(near_names("softmax_in_place", kOps).front(), "ttnn.softmax");
}

TEST(NearNames, TheNearestComesFirstAndNoMoreThanAsked) {
  EXPECT_EQ(near_names("sigmoid", kOps), (Names{"ttnn.sigmoid", "ttnn.sigmoid_accurate"}));
  EXPECT_EQ(near_names("sigmoid", kOps, 1), Names{"ttnn.sigmoid"});
  EXPECT_TRUE(near_names("sigmoid", kOps, 0).empty());
}

TEST(NearNames, NothingNearIsNothing) {
  EXPECT_TRUE(near_names("convolution", kOps).empty());
  EXPECT_TRUE(near_names("ttnn.xyz", kOps).empty());  // a common `ttnn.` makes no name near
  EXPECT_TRUE(near_names("", kOps).empty());
  EXPECT_TRUE(near_names("x", kOps).empty());
  EXPECT_TRUE(near_names("ttnn.", kOps).size() <= 3);  // no component to compare, no crash
  EXPECT_TRUE(near_names("add", {}).empty());
  EXPECT_TRUE(near_names(std::string(100000, 'a'), kOps).empty());
}

TEST(NearNames, ASuggestionReadsAsASentence) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean(Names{"a"}), "; did you mean 'a'?");
  EXPECT_EQ(did_you_mean(Names{"a", "b"}), "; did you mean 'a' or 'b'?");
  EXPECT_EQ(did_you_mean(Names{"a", "b", "c"}), "; did you mean 'a', 'b' or 'c'?");
}

}  // namespace
}  // namespace opwright

#include "model/record_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opwright {
namespace {

Result<CaseRecord> again(const std::string& text) {
  json::Document document;
  const auto root = document.parse(text);
  EXPECT_TRUE(root.has_value()) << text;
  return parse_record(**root);
}

TEST(RecordJson, ReadsBackWhatItWrites) {
  CaseRecord record;
  record.index = 17;
  record.op = "ttnn.add";
  record.line = "ttnn.add(a=\"quoted\",\n…)";
  record.outcome = Outcome::kTimedOut;
  record.blame = Blame::kStateLeak;
  record.recipe = {Distribution::kIntegers, 18446744073709551615ULL};
  record.pcc = 0.99999876543210987;
  record.ulp = std::nan("");
  record.wall_seconds = 1.0 / 3;
  record.host_bytes = 1LL << 40;
  const auto back = again(to_json(record));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(record));
  EXPECT_EQ(back->line, record.line);
  EXPECT_EQ(back->blame, Blame::kStateLeak);
  EXPECT_EQ(*back->pcc, *record.pcc);
  EXPECT_TRUE(std::isnan(*back->ulp));
  EXPECT_FALSE(back->nrmse.has_value());
  EXPECT_EQ(back->recipe.seed, record.recipe.seed);
}

TEST(RecordJson, FiguresThatAreNotFiniteComeBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CaseRecord record;
  record.config_hash = "59555cf6";
  record.pcc = std::nan("");
  record.ulp = kInfinity;
  record.nrmse = -kInfinity;
  record.wall_seconds = kInfinity;
  const std::string text = to_json(record);
  EXPECT_NE(text.find(R"("pcc": "nan", "ulp": "inf", "nrmse": "-inf",)"), std::string::npos) << text;
  const auto back = again(text);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(std::isnan(*back->pcc));
  EXPECT_EQ(*back->ulp, kInfinity);
  EXPECT_EQ(*back->nrmse, -kInfinity);
  EXPECT_FALSE(back->bound_used.has_value());
  EXPECT_EQ(back->wall_seconds, kInfinity);
  EXPECT_EQ(back->config_hash, "59555cf6");
}

TEST(RecordJson, WhatEarlierVersionsWroteIsRead) {
  const auto back = again(R"({"outcome": "failed", "pcc": null, "ulp": 2})");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(std::isnan(*back->pcc));
  EXPECT_EQ(*back->ulp, 2);
  EXPECT_EQ(back->config_hash, "");
}

TEST(RecordJson, SaysWhatIsWrong) {
  EXPECT_EQ(again(R"({"outcome": "passed", "pcc": "much"})").error().message, "\"pcc\" of a result is no number");
  EXPECT_EQ(again("[1]").error().message, "a result is no JSON object");
  EXPECT_EQ(again("{}").error().message, "a result without \"outcome\"");
  EXPECT_EQ(again(R"({"outcome": "great"})").error().message, "\"outcome\" of a result is an unknown word: great");
  EXPECT_EQ(again(R"({"outcome": "passed", "calls": 1.5})").error().message,
            "\"calls\" of a result is no whole number: 1.5");
  EXPECT_EQ(again(R"({"outcome": "passed", "reason": 3})").error().message,
            "\"reason\" of a result is of another kind");
}

}  // namespace
}  // namespace opwright

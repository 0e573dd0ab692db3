#include "report/kill_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "report/test_records.h"

namespace opwright::report {
namespace {

using ::testing::HasSubstr;

CaseRecord asked(std::int64_t index, std::string_view key, std::string_view misuse) {
  CaseRecord record = record_of(index);
  record.key = key;
  record.verdicts = fmt::format(R"([{{"outcome": "passed", "misuse": [{}]}}])", misuse);
  return record;
}

constexpr std::string_view kBias =
    R"({"class": "missing bias", "operand": "bias", "change": 0.5, "noticed": false, "why": "at most 0.4 of the bound"})";
constexpr std::string_view kSeen = R"({"class": "missing bias", "operand": "bias", "change": 0.4, "noticed": true})";
constexpr std::string_view kSmall =
    R"({"class": "epsilon x 100", "operand": "epsilon", "change": 0.001, "noticed": false, "why": "…"})";
constexpr std::string_view kNone = R"({"class": "missing mask", "operand": "mask", "change": "inf", "noticed": true})";

TEST(KillTable, CountsByClassAndSize) {
  KillTable table;
  table.add(asked(0, "a", fmt::format("{}, {}, {}", kBias, kSmall, kNone)));
  table.add(asked(1, "b", kSeen));
  table.add(record_of(2));
  const Kills kills = table.finish();
  EXPECT_EQ(kills.cases, 2);
  ASSERT_EQ(kills.classes.size(), 3U);
  const MisuseClass& bias = kills.classes[1];
  EXPECT_EQ(bias.name, "missing bias");
  EXPECT_EQ(bias.tried, 2);
  EXPECT_EQ(bias.large, 2);
  EXPECT_EQ(bias.large_noticed, 1);
  EXPECT_EQ(kills.classes[0].large, 0);
  EXPECT_EQ(kills.classes[2].large_noticed, 1) << "a number that became none is a large change";
  EXPECT_EQ(kills.all.tried, 4);
  EXPECT_EQ(kills.all.noticed, 2);
  ASSERT_EQ(kills.survivors.size(), 1U) << "small changes are no survivors";
  EXPECT_EQ(kills.survivors[0].operand, "bias");
  EXPECT_EQ(kills.survivors[0].why, "at most 0.4 of the bound");
  EXPECT_THAT(kills_text(kills), HasSubstr("missing bias"));
  EXPECT_THAT(kills_html(kills),
              HasSubstr("<th scope=\"row\">missing bias</th><td class=\"number\">2</td><td class=\"number\">50.0 %</td>"
                        "<td class=\"number\">2</td><td class=\"number\">50.0 %</td></tr>"))
      << "a cell for each of the five columns";
  json::Document document;
  const auto read = document.parse(kills_json(kills));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ((*read)->find("large_noticed")->as_int64(), 2);
}

// One configuration with two recipes of data: it is enough when one of them notices.
TEST(KillTable, AnotherRecipeMayNotice) {
  KillTable table;
  table.add(asked(0, "a", kBias));
  table.add(asked(1, "a", kSeen));
  table.add(asked(2, "a", kBias));
  const Kills kills = table.finish();
  EXPECT_EQ(kills.all.tried, 1);
  EXPECT_EQ(kills.all.large_noticed, 1);
  EXPECT_TRUE(kills.survivors.empty());
}

TEST(KillTable, WhatAPassIsBlindTo) {
  CaseRecord record = record_of(0);
  EXPECT_TRUE(blind_classes(record).empty());
  record.verdicts =
      R"([{"blind": []}, {"blind": ["missing bias: bias changes …", "missing bias: b", "position +1: p"]}])";
  EXPECT_EQ(blind_classes(record), (std::vector<std::string>{"missing bias", "position +1"}));
}

TEST(KillTable, NothingAskedSaysNothing) {
  KillTable table;
  table.add(record_of(0));
  CaseRecord damaged = record_of(1);
  damaged.verdicts = R"([{"misuse": [)";
  table.add(damaged);
  const Kills kills = table.finish();
  EXPECT_EQ(kills_text(kills), "");
  EXPECT_EQ(kills_html(kills), "");
}

}  // namespace
}  // namespace opwright::report

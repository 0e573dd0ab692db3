#include "launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opwright::launch {
namespace {

using testing::ElementsAre;

TEST(Environment, SettingReplacesAndRemembersWhatTheUserHad) {
  Environment environment({"A=1", "AB=2"});
  environment.set("A", "3", "because");
  EXPECT_THAT(environment.entries(), ElementsAre("AB=2", "A=3"));
  ASSERT_EQ(environment.changes().size(), 1U);
  EXPECT_EQ(environment.changes()[0].action, Action::kSet);
  EXPECT_EQ(environment.changes()[0].was, "1");
  EXPECT_EQ(environment.changes()[0].why, "because");
}

TEST(Environment, SettingTheSameValueReplacesNothingOfTheUsers) {
  Environment environment({"A=1"});
  environment.set("A", "1", "");
  EXPECT_EQ(environment.changes()[0].was, std::nullopt);
}

TEST(Environment, AWishLeavesWhatTheUserHasSetEvenWhenItIsEmpty) {
  Environment environment({"A=", "B=x"});
  environment.set_default("A", "1", "");
  environment.set_default("B", "1", "");
  environment.set_default("C", "1", "");
  EXPECT_THAT(environment.entries(), ElementsAre("A=", "B=x", "C=1"));
  EXPECT_EQ(environment.changes()[0].action, Action::kKept);
  EXPECT_EQ(environment.changes()[1].value, "x");
  EXPECT_EQ(environment.changes()[2].action, Action::kSet);
}

TEST(Environment, WhatIsKeptIsToldWhereItIs) {
  Environment environment({"A=1"});
  environment.keep("A", "seen by the program");
  environment.keep("B", "seen by the program");
  EXPECT_THAT(environment.entries(), ElementsAre("A=1"));
  ASSERT_EQ(environment.changes().size(), 1U);
  EXPECT_EQ(environment.changes()[0].action, Action::kKept);
}

TEST(Environment, RemovingWhatIsNotThereIsNoChange) {
  Environment environment({"A=1", "B=2"});
  environment.remove("A", "in the way");
  environment.remove("C", "in the way");
  EXPECT_THAT(environment.entries(), ElementsAre("B=2"));
  ASSERT_EQ(environment.changes().size(), 1U);
  EXPECT_EQ(environment.changes()[0].was, "1");
}

TEST(Environment, ANameIsTheWholeName) {
  const Environment environment({"AB=1", "A", "C=d=e"});
  EXPECT_EQ(environment.get("A"), std::nullopt);
  EXPECT_EQ(environment.get("C"), "d=e");
}

}  // namespace
}  // namespace opwright::launch

#include "jobs/check_health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/test_folder.h"
#include "jobs/ingest.h"

namespace opwright::jobs {
namespace {

const HealthRow& row(const Health& health, const std::string& what) {
  static const HealthRow kNone;
  const auto found = std::ranges::find(health.rows, what, &HealthRow::what);
  EXPECT_NE(found, health.rows.end()) << what;
  return found != health.rows.end() ? *found : kNone;
}

class CheckHealth : public testing::Test {
 protected:
  std::string store() const { return folder_.file("s.db"); }
  void import() const { ASSERT_TRUE(ingest({fixture_path("demo/tiny_llm.json")}, {.store = store()})); }

  TestFolder folder_;
};

TEST_F(CheckHealth, SaysWhatIsInstalledAndThatThereIsNoStoreYet) {
  const Health health = check_health({.store = store()});
  EXPECT_TRUE(health.sound);
  for (const char* what : {"opwright", "compiler", "json parser", "sqlite", "zstd", "cores", "operations known"}) {
    EXPECT_EQ(row(health, what).state, "ok") << what;
    EXPECT_NE(row(health, what).detail, "") << what;
  }
  EXPECT_EQ(row(health, "store").state, "none");
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(CheckHealth, ASoundStoreIsCountedAndDeeperChecksSaySo) {
  import();
  const Health health = check_health({.store = store()});
  EXPECT_TRUE(health.sound);
  EXPECT_EQ(row(health, "store").state, "ok");
  EXPECT_NE(row(health, "store").detail.find("not checked: indexes"), std::string::npos) << row(health, "store").detail;
  const Health deep = check_health({.store = store(), .deep = true});
  EXPECT_TRUE(deep.sound);
  EXPECT_NE(row(deep, "store").detail.find("all of it checked"), std::string::npos) << row(deep, "store").detail;
}

TEST_F(CheckHealth, DamageIsFoundAndSaidWhatToDo) {
  import();
  std::string bytes = content_of(store());
  const std::size_t at = bytes.rfind("ttnn.");  // a name in a row, which no structure of the file would miss
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'x';
  std::ofstream(store(), std::ios::binary) << bytes;
  const Health health = check_health({.store = store()});
  EXPECT_FALSE(health.sound);
  EXPECT_EQ(row(health, "store").state, "bad");
  EXPECT_NE(row(health, "store").detail.find("doctor --repair"), std::string::npos) << row(health, "store").detail;
}

TEST_F(CheckHealth, WhatIsNoStoreIsBadAndLeftAsItIs) {
  folder_.write("s.db", "not a store");
  const Health health = check_health({.store = store()});
  EXPECT_FALSE(health.sound);
  EXPECT_EQ(content_of(store()), "not a store");
}

}  // namespace
}  // namespace opwright::jobs

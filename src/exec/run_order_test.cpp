#include "exec/run_order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace opwright {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::vector<PlannedCase> cases_of(const std::vector<std::int64_t>& mebibytes) {
  std::vector<PlannedCase> cases;
  for (const std::int64_t size : mebibytes) cases.push_back({.bytes = size * kMiB});
  return cases;
}

std::vector<std::uint32_t> all_of(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

TEST(Shard, PartsHoldEveryCaseOnceAndNewCasesMoveNone) {
  std::vector<Shard> shards;
  for (std::uint32_t i = 1; i <= 7; ++i) shards.push_back({i, 7});
  std::vector<int> sizes(7);
  for (int id = 0; id < 7000; ++id) {
    int holders = 0;
    for (std::size_t s = 0; s < shards.size(); ++s)
      if (shards[s].holds("model_traced:" + std::to_string(id))) {
        ++holders;
        ++sizes[s];
      }
    ASSERT_EQ(holders, 1);
  }
  for (const int size : sizes) EXPECT_NEAR(size, 1000, 150);
  // Machines of a farm rely on it: another hash would move cases between them.
  EXPECT_TRUE((Shard{8, 8}.holds("model_traced:0")));
  EXPECT_TRUE((Shard{4, 8}.holds("model_traced:1")));
  EXPECT_TRUE((Shard{1, 1}.holds("anything")));
}

TEST(Shard, AWrongPartIsWrongUsage) {
  const auto good = parse_shard("2/8");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->index, 2U);
  EXPECT_EQ(good->count, 8U);
  for (const char* text : {"", "2", "0/4", "5/4", "2/", "/4", "a/b", "1/4x", "-1/4"}) {
    const auto bad = parse_shard(text);
    ASSERT_FALSE(bad.has_value()) << text;
    EXPECT_EQ(bad.error().code, ErrorCode::kUsage);
  }
}

TEST(RunQueue, TheLargestComesFirstAndEqualOnesInTheOrderOfThePlan) {
  const auto cases = cases_of({1, 100, 2, 4000, 3, 101});
  RunQueue queue(cases, all_of(cases.size()), 0);
  std::vector<std::uint32_t> started;
  while (const auto index = queue.next()) started.push_back(*index);
  EXPECT_EQ(started, (std::vector<std::uint32_t>{3, 1, 5, 0, 2, 4}));
  EXPECT_TRUE(queue.empty());
}

TEST(RunQueue, SmallCasesFillTheOtherWorkersWhileAHugeOneRuns) {
  const auto cases = cases_of({1, 900, 800, 1, 150});
  RunQueue queue(cases, all_of(cases.size()), 1100 * kMiB);
  EXPECT_EQ(queue.next(), 1U);
  EXPECT_EQ(queue.next(), 4U);  // the second huge one has no room beside the first
  queue.ended(4);
  EXPECT_EQ(queue.next(), 0U);
  queue.ended(1);
  EXPECT_EQ(queue.next(), 2U);
  EXPECT_EQ(queue.next(), 3U);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(RunQueue, ACaseLargerThanTheCapRunsAlone) {
  const auto cases = cases_of({500, 5000});
  RunQueue queue(cases, all_of(cases.size()), 1000 * kMiB);
  EXPECT_EQ(queue.next(), 1U);
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_FALSE(queue.empty());
  queue.ended(1);
  EXPECT_EQ(queue.next(), 0U);
}

// Any ends in any order: each case starts once, and the cap holds whenever two or more run.
TEST(RunQueue, NothingIsLostAndTheCapHoldsWhateverEndsFirst) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::int64_t> sizes(1 + random() % 200);
    for (std::int64_t& size : sizes) size = random() % 10 == 0 ? random() % 3000 : random() % 60;
    const auto cases = cases_of(sizes);
    const std::int64_t cap = static_cast<std::int64_t>(100 + random() % 2000) * kMiB;
    RunQueue queue(cases, all_of(cases.size()), cap);
    std::vector<std::uint32_t> running;
    std::set<std::uint32_t> seen;
    while (!queue.empty() || !running.empty()) {
      while (running.size() < 8) {
        const auto index = queue.next();
        if (!index) break;
        EXPECT_TRUE(seen.insert(*index).second);
        running.push_back(*index);
        std::int64_t sum = 0;
        for (const std::uint32_t one : running) sum += cases[one].bytes;
        EXPECT_TRUE(running.size() == 1 || sum <= cap);
      }
      ASSERT_FALSE(running.empty()) << "nobody runs and nobody may start";
      const std::size_t place = random() % running.size();
      queue.ended(running[place]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(place));
    }
    EXPECT_EQ(seen.size(), cases.size());
  }
}

}  // namespace
}  // namespace opwright

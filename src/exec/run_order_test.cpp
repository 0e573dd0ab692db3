#include "exec/run_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "exec/budget.h"

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

std::vector<std::uint32_t> starts_of(RunQueue& queue) {
  std::vector<std::uint32_t> started;
  while (const auto index = queue.next()) {
    started.push_back(*index);
    queue.ended(*index);
  }
  return started;
}

TEST(RunQueue, OneWorkerTakesTheGivenOrder) {
  const auto cases = cases_of({1, 100, 2, 4000, 3, 101});
  RunQueue queue(cases, {4, 0, 5, 1, 3, 2}, {});
  EXPECT_EQ(starts_of(queue), (std::vector<std::uint32_t>{4, 0, 5, 1, 3, 2}));
  EXPECT_TRUE(queue.empty());
}

TEST(RunQueue, BesideTheGivenOrderTheLongestAreTaken) {
  auto cases = cases_of({1, 1, 1, 1, 1, 1});
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].seconds = static_cast<float>(i);
  RunQueue queue(cases, all_of(cases.size()), {.jobs = 2, .opening = 2});
  EXPECT_EQ(queue.next(), 0U);
  EXPECT_EQ(queue.next(), 1U);  // the opening has no place for long ones
  queue.ended(0);
  EXPECT_EQ(queue.next(), 5U);
  queue.ended(1);
  EXPECT_EQ(queue.next(), 2U);  // one long one at a time
  queue.ended(2);
  EXPECT_EQ(queue.next(), 3U);
  queue.ended(5);
  EXPECT_EQ(queue.next(), 4U);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(RunQueue, WhereTheNextHasNoRoomTheFirstThatHasIsTaken) {
  const auto cases = cases_of({900, 800, 1, 150});
  RunQueue queue(cases, all_of(cases.size()), {.cap = 1100 * kMiB});
  EXPECT_EQ(queue.next(), 0U);
  EXPECT_EQ(queue.next(), 2U);  // the second huge one has no room beside the first
  queue.ended(2);
  EXPECT_EQ(queue.next(), 3U);
  queue.ended(0);
  EXPECT_EQ(queue.next(), 1U);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(RunQueue, WhatIsHardToPlaceComesBeforeWhatIsLong) {
  auto cases = cases_of({1, 600, 1, 700, 1});
  cases[2].seconds = 50;
  cases[3].seconds = 2;
  cases[1].seconds = 1;
  RunQueue queue(cases, {0, 4, 1, 2, 3}, {.cap = 1100 * kMiB, .jobs = 2});
  EXPECT_EQ(queue.next(), 3U);
  EXPECT_EQ(queue.next(), 0U);
  queue.ended(3);
  EXPECT_EQ(queue.next(), 1U);
  queue.ended(1);
  EXPECT_EQ(queue.next(), 2U);
}

TEST(RunQueue, ACaseLargerThanTheCapRunsAlone) {
  const auto cases = cases_of({5000, 500});
  RunQueue queue(cases, all_of(cases.size()), {.cap = 1000 * kMiB});
  EXPECT_EQ(queue.next(), 0U);
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_FALSE(queue.empty());
  EXPECT_FALSE(queue.again(1));
  queue.ended(0);
  EXPECT_EQ(queue.next(), 1U);
}

TEST(RunQueue, WhatWouldTakeTooLongIsPutAsideAndAskedForAgainAtTheEnd) {
  auto cases = cases_of({1, 1, 1});
  cases[0].seconds = 100;
  double left = 10;
  const auto fits = [&](const PlannedCase& one) { return static_cast<double>(one.seconds) <= left; };
  RunQueue queue(cases, all_of(3), {.jobs = 2, .by_value = true});
  EXPECT_EQ(queue.next(fits), 1U);
  EXPECT_EQ(queue.next(fits), 2U);
  EXPECT_EQ(queue.next(fits), std::nullopt);
  EXPECT_FALSE(queue.empty());
  left = 200;  // the device is quicker than was thought
  EXPECT_EQ(queue.next(fits), 0U);
  EXPECT_TRUE(queue.empty());
}

TEST(LongestFirst, IsWhatAnOrderCanDoAtBest) {
  EXPECT_DOUBLE_EQ(longest_first_seconds({}, 2), 0);
  EXPECT_DOUBLE_EQ(longest_first_seconds({1, 5, 1, 1, 1, 1}, 2), 5);
  EXPECT_DOUBLE_EQ(longest_first_seconds({3, 3, 2, 2, 2}, 2), 7);
  EXPECT_DOUBLE_EQ(longest_first_seconds({3, 3}, 1), 6);
}

// A run in this order ends hardly later than in the best one, and shows every operation early.
TEST(RunQueue, EveryOperationIsSeenEarlyAndTheEndIsNotLate) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::lognormal_distribution<double> seconds(-2, 2);
    auto cases = cases_of(std::vector<std::int64_t>(2000, 10));
    for (PlannedCase& one : cases) {
      one.seconds = static_cast<float>(std::min(50.0, seconds(random)));
      one.op = static_cast<std::uint32_t>(random() % 60);
      one.weight = static_cast<std::int64_t>(random() % 1000);
    }
    const CoverageOrder order = coverage_order(cases);
    ASSERT_EQ(order.order.size(), cases.size());
    EXPECT_EQ(order.operators, 60U);
    const int jobs = 2 + static_cast<int>(random() % 6);
    RunQueue queue(cases, order.order, {.jobs = jobs, .opening = order.opening});
    std::vector<std::pair<double, std::uint32_t>> running;  // end, index
    std::set<std::uint32_t> ops;
    std::vector<double> all;
    double now = 0;
    double all_seen = -1;
    while (!queue.empty() || !running.empty()) {
      while (std::ssize(running) < jobs) {
        const auto index = queue.next();
        if (!index) break;
        // As wrong as estimates are.
        const double took =
            static_cast<double>(cases[*index].seconds) * (0.6 + static_cast<double>(random() % 100) / 60);
        all.push_back(took);
        running.emplace_back(now + took, *index);
      }
      const auto first = std::ranges::min_element(running);
      now = first->first;
      queue.ended(first->second);
      ops.insert(cases[first->second].op);
      if (ops.size() == 60 && all_seen < 0) all_seen = now;
      running.erase(first);
    }
    EXPECT_LT(now, 1.1 * longest_first_seconds(all, jobs));
    EXPECT_LT(all_seen, now / 20);
  }
}

// Any ends in any order: each case starts once, and the cap holds whenever two or more run.
TEST(RunQueue, NothingIsLostAndTheCapHoldsWhateverEndsFirst) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::int64_t> sizes(1 + random() % 200);
    for (std::int64_t& size : sizes) size = random() % 10 == 0 ? random() % 3000 : random() % 60;
    const auto cases = cases_of(sizes);
    const std::int64_t cap = static_cast<std::int64_t>(100 + random() % 2000) * kMiB;
    RunQueue queue(cases, all_of(cases.size()), {.cap = cap, .jobs = 8});
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

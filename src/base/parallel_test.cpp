#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace opwright {
namespace {

class Parallel : public ::testing::Test {
 protected:
  void SetUp() override { set_threads(4); }
  void TearDown() override { set_threads(0); }
};

TEST_F(Parallel, EveryIndexRunsOnce) {
  std::vector<std::atomic<int>> seen(1000);
  parallel_for(0, 1000, 7, [&](std::int64_t first, std::int64_t last) {
    EXPECT_LE(last - first, 7);
    for (std::int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST_F(Parallel, NothingIsNoCall) {
  parallel_for(5, 5, 1, [](std::int64_t, std::int64_t) { FAIL(); });
  parallel_for(6, 5, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

TEST_F(Parallel, ALoopInsideAPartRunsOnThatPartsThread) {
  parallel_for(0, 8, 1, [](std::int64_t, std::int64_t) {
    const std::thread::id mine = std::this_thread::get_id();
    parallel_for(0, 8, 1, [mine](std::int64_t first, std::int64_t last) {
      EXPECT_EQ(std::this_thread::get_id(), mine);
      EXPECT_EQ(last - first, 8);
    });
  });
}

TEST_F(Parallel, AnExceptionComesOutAndTheNextLoopRuns) {
  const auto fails = [](std::int64_t first, std::int64_t) {
    if (first == 3) throw std::runtime_error("part 3");
  };
  EXPECT_THROW(parallel_for(0, 100, 1, fails), std::runtime_error);
  std::atomic<int> count = 0;
  parallel_for(0, 100, 1, [&](std::int64_t, std::int64_t) { ++count; });
  EXPECT_EQ(count, 100);
}

TEST_F(Parallel, LoopsOfSeveralThreadsOfTheProgramAllEnd) {
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        parallel_for(0, 100, 3, [&](std::int64_t first, std::int64_t last) { sum += last - first; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 20 * 100);
}

}  // namespace
}  // namespace opwright

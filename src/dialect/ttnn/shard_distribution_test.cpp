#include "dialect/ttnn/shard_distribution.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"

namespace opwright {
namespace {

const std::vector<CoreRange> kSixCores{{{0, 0}, {2, 1}}};

TEST(ShardDistribution, TheLastShardIsWholeThoughTheTensorEndsInIt) {
  const auto memory = sharded_memory(MemoryLayout::kHeightSharded, shard({64, 32}, kSixCores));
  const auto spread = distribute(tensor({1, 5, 32, 32}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->shards, 3);
  EXPECT_EQ(spread->cores, 3);
  EXPECT_EQ(spread->shard_pages, 2);
  EXPECT_EQ(spread->pages_per_core(), 2);
}

TEST(ShardDistribution, RoundRobinGoesOverTheCoresAgain) {
  const auto memory = nd_memory(shard({1, 32, 32}, kSixCores), "ROUND_ROBIN_1D");
  const auto spread = distribute(tensor({13, 32, 32}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->shards, 13);
  EXPECT_EQ(spread->shards_per_core, 3);
  EXPECT_EQ(spread->cores, 6);
}

TEST(ShardDistribution, BlocksAskOnlyForTheCoresTheyUse) {
  const auto memory =
      sharded_memory(MemoryLayout::kBlockSharded, shard({32, 32}, {{{1, 1}, {9, 9}}}, Orientation::kColMajor));
  const auto spread = distribute(tensor({96, 64}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->shards, 6);
  EXPECT_EQ(spread->grid, (std::vector<CoreRange>{{{1, 1}, {3, 2}}}));  // turned: heights go along x
}

TEST(ShardDistribution, NoCoresForSomethingIsRefused) {
  const auto memory = nd_memory(shard({32, 32}, {}), "ROUND_ROBIN_1D");
  const auto spread = distribute(tensor({64, 64}, DType::kBfloat16, Layout::kTile, memory));
  ASSERT_FALSE(spread);
  EXPECT_EQ(spread.error().message, "Can't distribute non zero volume tensor over an empty set of cores");
}

}  // namespace
}  // namespace opwright

#include "ops/shared/cache.h"

#include <gtest/gtest.h>

#include <set>

namespace opwright {
namespace {

HostTensor floats(Shape shape) {
  HostTensor tensor;
  tensor.spec.shape = std::move(shape);
  tensor.spec.dtype.value = DType::kBfloat16;
  tensor.floats.assign(static_cast<std::size_t>(tensor.size()), 0.0F);
  return tensor;
}

HostTensor ints(Shape shape, std::vector<std::int64_t> values) {
  HostTensor tensor;
  tensor.spec.shape = std::move(shape);
  tensor.spec.dtype.value = DType::kInt32;
  tensor.ints = std::move(values);
  return tensor;
}

// cache[page of the position, head, place in the block] = input[user, head]
TEST(DecodeRows, GoWhereThePageTableSays) {
  const HostTensor cache = floats({4, 1, 2, 8});
  const HostTensor input = floats({1, 2, 1, 8});
  const HostTensor pages = ints({2, 2}, {3, 1, 2, 0});
  const auto rows = decode_rows({.positions = {2, 1}, .pages = &pages}, cache, input);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cache, 2);  // user 0: position 2 is place 0 of page 1, block 1
  EXPECT_EQ(rows[0].input, 0);
  EXPECT_EQ(rows[1].cache, 5);  // user 1: position 1 is place 1 of page 0, block 2
  EXPECT_EQ(rows[1].input, 1);
}

TEST(DecodeRows, SkipUsersWithoutAPosition) {
  const HostTensor cache = floats({2, 1, 4, 8});
  const HostTensor input = floats({1, 2, 1, 8});
  EXPECT_EQ(decode_rows({.positions = {-1, 3}}, cache, input).size(), 1U);
}

TEST(Settled, KeepsTheLastWriteAndDropsWhatLiesOutside) {
  const HostTensor cache = floats({1, 1, 4, 8});
  const auto rows = settled({{3, 1}, {1, 0}, {3, 2}, {9, 0}, {-1, 0}}, cache);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cache, 1);
  EXPECT_EQ(rows[1].input, 2);
}

TEST(FillPages, UsesEachBlockOnceWhereThereAreEnough) {
  HostTensor pages = ints({2, 3}, {});
  Random random(1);
  fill_pages(pages, 8, random);
  EXPECT_EQ(std::set<std::int64_t>(pages.ints.begin(), pages.ints.end()).size(), 6U);
  for (const std::int64_t page : pages.ints) EXPECT_LT(page, 8);
}

}  // namespace
}  // namespace opwright

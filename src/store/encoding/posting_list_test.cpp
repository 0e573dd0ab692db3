#include "store/encoding/posting_list.h"

#include <gtest/gtest.h>

#include <random>

namespace opwright::store {
namespace {

using Ids = std::vector<std::int64_t>;

std::string encoded(const Ids& ids) {
  std::string steps;
  for (std::size_t i = 1; i < ids.size(); ++i) append_step(steps, ids[i - 1], ids[i]);
  return steps;
}

TEST(PostingList, ComesBack) {
  for (const Ids& ids : {Ids{1}, Ids{1, 2, 3}, Ids{5, 132, 133, 16517, 2113669}, Ids{1, INT64_MAX}, Ids{0, 127, 255}}) {
    Ids decoded;
    EXPECT_TRUE(decode_ids(ids[0], encoded(ids), decoded));
    EXPECT_EQ(decoded, ids);
  }
  std::mt19937_64 random(9);
  Ids ids{1};
  while (ids.size() < 10000)
    ids.push_back(ids.back() + 1 + static_cast<std::int64_t>(random() >> (24 + random() % 40)));
  Ids decoded;
  EXPECT_TRUE(decode_ids(ids[0], encoded(ids), decoded));
  EXPECT_EQ(decoded, ids);
}

TEST(PostingList, SmallStepsTakeOneByte) {
  EXPECT_EQ(encoded({1, 2, 129}).size(), 2u);
  EXPECT_EQ(encoded({1, 130}).size(), 3u - 1u);
}

TEST(PostingList, PiecesAreAppended) {
  Ids ids;
  ASSERT_TRUE(decode_ids(1, encoded({1, 2}), ids));
  ASSERT_TRUE(decode_ids(7, encoded({7, 9}), ids));
  EXPECT_EQ(ids, (Ids{1, 2, 7, 9}));
}

TEST(PostingList, ACutOrEndlessNumberIsDamage) {
  Ids ids;
  EXPECT_FALSE(decode_ids(1, "\x81", ids));
  EXPECT_FALSE(decode_ids(1, std::string(9, '\xff') + "\x01", ids));
  EXPECT_FALSE(decode_ids(1, std::string(100, '\x80'), ids));
}

TEST(PostingList, AStepThatLeavesTheNumbersIsDamage) {
  Ids ids;
  EXPECT_FALSE(decode_ids(1, std::string(1, '\0'), ids));
  EXPECT_FALSE(decode_ids(1, std::string(8, '\xff') + "\x7f", ids));
  const std::string quarter = std::string(8, '\xff') + "\x3f";  // 2^62 - 1
  EXPECT_FALSE(decode_ids(1, quarter + quarter + quarter, ids));
}

}  // namespace
}  // namespace opwright::store

#include "store/encoding/block.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace opwright::store {
namespace {

ConfigKey key_of(char c) {
  ConfigKey key;
  key.fill(static_cast<std::uint8_t>(c));
  return key;
}

TEST(CardBlock, GivesBackWhatItWasMadeOf) {
  const std::string sweep(64, 's');
  std::vector<CardRow> rows(2);
  rows[0] = {65, 7, 2, key_of('a'), {{{9}, {1}, {2}, {3}, sweep, 5, 1}, {{2}, {0}, {0}, {1}, "", kUncounted, 0}}};
  rows[1] = {127, 1, 1, key_of('b'), {}};
  CardBlock block;
  ASSERT_TRUE(block.open(card_block(rows)));
  const CardBlock::Entry& first = block.entry(65);
  EXPECT_TRUE(first.is_there);
  EXPECT_EQ(first.operation, 7);
  EXPECT_EQ(first.convention, 2);
  EXPECT_EQ(first.key, std::string(32, 'a'));
  ASSERT_EQ(block.seen(first).size(), 2u);
  EXPECT_EQ(block.seen(first)[0].form.value, 2);  // by form
  EXPECT_EQ(block.seen(first)[0].count, kUncounted);
  EXPECT_EQ(block.seen(first)[1].sweep_source_hash, sweep);
  EXPECT_EQ(block.seen(first)[1].count, 5);
  EXPECT_EQ(block.seen(first)[1].raised, 1);
  EXPECT_TRUE(block.entry(127).is_there);
  EXPECT_TRUE(block.seen(block.entry(127)).empty());
  EXPECT_FALSE(block.entry(66).is_there);
}

// Rows of one trace with other hashes tell of the same calls.
TEST(CardBlock, WhatDiffersInHashesOnlyCountsOnce) {
  std::vector<CardRow> rows(1);
  rows[0] = {1,
             1,
             1,
             key_of('a'),
             {{{1}, {1}, {1}, {1}, "", 4, 0}, {{1}, {1}, {1}, {2}, "", 1, 0}, {{1}, {1}, {1}, {1}, "", 6, 2}}};
  CardBlock block;
  ASSERT_TRUE(block.open(card_block(rows)));
  const auto seen = block.seen(block.entry(1));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].count, 6);
  EXPECT_EQ(seen[0].raised, 2);
  EXPECT_EQ(seen[1].count, 1);
}

std::string parts(std::initializer_list<std::string_view> texts) {
  std::string out;
  for (const std::string_view text : texts) append_sized(out, text);
  return out;
}

std::vector<std::string> told(const RecordBlock& block, std::int64_t id) {
  std::vector<std::string> all;
  for (const std::uint32_t place : block.places(block.entry(id))) all.emplace_back(block.table()[place]);
  return all;
}

TEST(RecordBlock, KeepsEqualPartsOnce) {
  RecordBuilder builder;
  builder.add(1, parts({"tensor", "dim=3", ""}));
  builder.add(2, parts({"dim=3", "tensor"}));
  builder.add(3, parts({}));
  RecordBlock block;
  ASSERT_TRUE(block.open(builder.block()));
  EXPECT_EQ(block.table().size(), 3u);
  EXPECT_EQ(told(block, 1), (std::vector<std::string>{"tensor", "dim=3", ""}));
  EXPECT_EQ(told(block, 2), (std::vector<std::string>{"dim=3", "tensor"}));
  EXPECT_TRUE(block.entry(3).is_there);
  EXPECT_FALSE(block.entry(4).is_there);
  RecordBuilder longer;
  longer.add(4, parts({"tensor", "new"}));
  longer.add(2, block);
  RecordBlock again;
  ASSERT_TRUE(again.open(longer.block()));
  EXPECT_EQ(again.table().size(), 3u);
  EXPECT_EQ(told(again, 2), told(block, 2));
  EXPECT_EQ(told(again, 4), (std::vector<std::string>{"tensor", "new"}));
}

TEST(Blocks, DamagedBytesAreRefused) {
  std::vector<CardRow> rows(3);
  for (std::int64_t i = 0; i < 3; ++i)
    rows[static_cast<std::size_t>(i)] = {i, 1, 1, key_of('k'), {{{i}, {1}, {1}, {1}, "x", 4, 0}}};
  RecordBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) builder.add(i, parts({"a", "b"}));
  const std::string card = card_block(rows), record = builder.block();
  CardBlock cards;
  RecordBlock records;
  for (std::size_t size = 0; size < card.size(); ++size) EXPECT_FALSE(cards.open(card.substr(0, size))) << size;
  for (std::size_t size = 0; size < record.size(); ++size) EXPECT_FALSE(records.open(record.substr(0, size))) << size;
  EXPECT_FALSE(cards.open(card + "x"));
  EXPECT_FALSE(records.open(record + "x"));
  for (std::size_t i = 0; i < card.size(); ++i) {  // nothing may crash
    std::string other = card;
    other[i] = '\xff';
    (void)cards.open(other);
  }
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::string other = record;
    other[i] = '\xff';
    (void)records.open(other);
  }
}

}  // namespace
}  // namespace opwright::store

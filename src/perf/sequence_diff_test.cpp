#include "perf/sequence_diff.h"

#include <gtest/gtest.h>

#include <random>

namespace opwright::perf {
namespace {

using Sequence = std::vector<std::uint32_t>;

// The textbook's table.
std::size_t longest_common(const Sequence& a, const Sequence& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::uint32_t value : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = value == b[j] ? diagonal + 1 : std::max(row[j + 1], row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

void expect_sound(const Sequence& a, const Sequence& b, const Aligned& aligned) {
  for (std::size_t i = 0; i < aligned.pairs.size(); ++i) {
    const auto [x, y] = aligned.pairs[i];
    ASSERT_LT(x, a.size());
    ASSERT_LT(y, b.size());
    ASSERT_EQ(a[x], b[y]);
    if (i == 0) continue;
    ASSERT_LT(aligned.pairs[i - 1].first, x);
    ASSERT_LT(aligned.pairs[i - 1].second, y);
  }
}

Sequence random_sequence(std::mt19937& random, std::size_t most, std::uint32_t letters) {
  Sequence out(random() % (most + 1));
  for (std::uint32_t& value : out) value = random() % letters;
  return out;
}

TEST(SequenceDiff, FindsAsManyPairsAsTheTextbook) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    const Sequence a = random_sequence(random, 24, 1 + random() % 6), b = random_sequence(random, 24, 1 + random() % 6);
    const Aligned aligned = align(a, b);
    expect_sound(a, b, aligned);
    ASSERT_TRUE(aligned.shortest);
    ASSERT_EQ(aligned.pairs.size(), longest_common(a, b)) << "round " << round;
  }
}

TEST(SequenceDiff, FindsThemInLongSequencesWithFewChanges) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    Sequence a(900), b;
    for (std::uint32_t& value : a) value = random() % 30;
    for (const std::uint32_t value : a) {
      if (random() % 10 == 0) b.push_back(random() % 30);
      if (random() % 12 != 0) b.push_back(value);
    }
    const Aligned aligned = align(a, b);
    expect_sound(a, b, aligned);
    ASSERT_EQ(aligned.pairs.size(), longest_common(a, b));
  }
}

TEST(SequenceDiff, GivesUpSoundlyWhereThereIsTooMuchToSearch) {
  std::mt19937 random(3);
  bool gave_up = false;
  for (int round = 0; round < 300; ++round) {
    const Sequence a = random_sequence(random, 400, 5), b = random_sequence(random, 400, 5);
    const Aligned aligned = align(a, b, 4);
    expect_sound(a, b, aligned);
    gave_up = gave_up || !aligned.shortest;
    if (aligned.shortest) {
      EXPECT_EQ(aligned.pairs.size(), longest_common(a, b));
    }
    // Not the longest, but no nonsense either.
    if (a.size() > 200 && b.size() > 200) {
      EXPECT_GT(aligned.pairs.size() * 2, longest_common(a, b));
    }
  }
  EXPECT_TRUE(gave_up);
}

TEST(SequenceDiff, NothingInCommonCostsNothing) {
  Sequence a(30000), b(30000);
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    a[i] = i;
    b[i] = i + 1000000;
  }
  EXPECT_TRUE(align(a, b).pairs.empty());
  EXPECT_TRUE(align(a, b).shortest);
  EXPECT_EQ(align(a, a).pairs.size(), a.size());
  EXPECT_TRUE(align({}, {}).pairs.empty());
}

}  // namespace
}  // namespace opwright::perf

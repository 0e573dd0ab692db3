// The calls of traces in their order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "store/conformance/store_under_test.h"
#include "store/test_sequences.h"

namespace opwright::store {
namespace {

class SequenceLaws : public StoreLaws {
 protected:
  void keep(const std::vector<TestTrace>& kept) {
    const auto writer = begin();
    for (const TestTrace& trace : kept) ASSERT_TRUE(writer->write(batch_of(trace)));
    ASSERT_TRUE(writer->commit());
  }
  // "uid name size digest" of each, and their bytes are what was kept.
  std::vector<std::string> told() {
    const auto reader = this->reader();
    std::vector<std::string> lines;
    const auto rows = reader->sequences();
    EXPECT_TRUE(rows) << rows.error().message;
    for (const SequenceRow& row : *rows) {
      const auto bytes = reader->trace_bytes(row);
      EXPECT_TRUE(bytes && sha256(*bytes) == row.sequence.digest);
      lines.push_back(row.sequence.uid + " " + row.sequence.name + " " + std::to_string(row.sequence.size) + " " +
                      to_hex(row.sequence.digest));
    }
    return lines;
  }
};

TEST_P(SequenceLaws, AreReadAsTheyWereKeptNewestFirst) {
  const TestTrace old{"a", noise(kPieceBytes * 2 + 17, 1)}, exact{"c", noise(kPieceBytes, 3)};
  const TestTrace late{"b", "short", DataFlow::kNone, "later", "2026-05-06T00:00:00.000000Z"};
  keep({old, late, exact});
  const auto lines = told();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("b later 5 "));
  const auto reader = this->reader();
  const SequenceRow row = reader->sequences()->front();
  EXPECT_EQ(row.sequence.command, "pytest");
  EXPECT_EQ(row.sequence.calls, 3);
  EXPECT_EQ(row.sequence.operations, 2);
  EXPECT_EQ(row.sequence.flow, DataFlow::kNone);
  EXPECT_GT(row.packed, 0);
}

// Union: whatever comes, in whatever order, together or one by one, the same is there.
TEST_P(SequenceLaws, TheOrderOfImportsDoesNotMatter) {
  std::vector<TestTrace> traces{{"run/1", noise(3000, 1)},
                                {"run/1", noise(5000, 2)},                   // it has grown
                                {"run/1", noise(5000, 3)},                   // as long, another content
                                {"run/1", noise(9000, 4), DataFlow::kNone},  // longer, but says less
                                {"run/2", noise(kPieceBytes + 1, 5)},
                                {"run/2", noise(kPieceBytes + 1, 5), DataFlow::kRecorded, "a copy"}};
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  std::vector<std::string> expected;
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    start_anew();
    std::vector<TestTrace> shuffled;
    for (const std::size_t i : order) shuffled.push_back(traces[i]);
    if (round % 2 == 0) {
      keep(shuffled);
    } else {
      for (const TestTrace& trace : shuffled) keep({trace});
    }
    const auto lines = told();
    if (expected.empty()) expected = lines;
    EXPECT_EQ(lines, expected) << round;
    keep(shuffled);
    EXPECT_EQ(told(), expected);
  }
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_NE(expected[0] + expected[1], "");
  EXPECT_NE((expected[0] + expected[1]).find("run/1 test_mlp.py 5000 "), std::string::npos);
  EXPECT_NE((expected[0] + expected[1]).find("run/2 a copy "), std::string::npos);
}

TEST_P(SequenceLaws, ForgettingRemovesOneAndNothingElse) {
  keep({{"a", noise(kPieceBytes + 5, 1)}, {"b", noise(100, 2)}});
  {
    const auto writer = begin();
    EXPECT_FALSE(*writer->forget_sequence("c"));
    EXPECT_TRUE(*writer->forget_sequence("a"));
    EXPECT_FALSE(*writer->forget_sequence("a"));
    ASSERT_TRUE(writer->commit());
  }
  ASSERT_EQ(told().size(), 1u);
  keep({{"a", noise(kPieceBytes + 5, 1)}});  // and it may come again
  EXPECT_EQ(told().size(), 2u);
}

TEST_P(SequenceLaws, ThatWereNotCommittedAreNotThere) {
  keep({{"a", noise(100, 1)}});
  {
    const auto writer = begin();
    ASSERT_TRUE(writer->write(batch_of({"b", noise(100, 2)})));
    ASSERT_TRUE(*writer->forget_sequence("a"));
  }
  EXPECT_EQ(told().size(), 1u);
}

OPWRIGHT_FOR_ALL_STORES(SequenceLaws);

}  // namespace
}  // namespace opwright::store

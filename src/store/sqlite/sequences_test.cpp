#include "store/sqlite/sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/limits.h"
#include "store/sqlite/frame.h"
#include "store/sqlite/inspect.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"

namespace opwright::store {
namespace {

// A trace of which only its bytes matter here.
struct Trace {
  std::string uid, bytes;
  DataFlow flow = DataFlow::kRecorded;
  std::string name = "test_mlp.py";
  std::string started = "2026-01-02T03:04:05.000000Z";
};

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

Sequence sequence_of(const Trace& trace) {
  Sequence sequence;
  sequence.uid = trace.uid;
  sequence.digest = sha256(trace.bytes);
  sequence.name = trace.name;
  sequence.command = "pytest";
  sequence.machine = "{}";
  sequence.started = trace.started;
  sequence.format = "native";
  sequence.flow = trace.flow;
  sequence.calls = 3;
  sequence.operations = 2;
  sequence.content = static_cast<std::int64_t>(trace.bytes.size());
  sequence.size = sequence.content;
  return sequence;
}

Batch batch_of(const Trace& trace) {
  Batch batch;
  const auto sequence = std::make_shared<const Sequence>(sequence_of(trace));
  std::int64_t place = 0;
  for (std::size_t at = 0; at < trace.bytes.size(); at += kPieceBytes, ++place)
    batch.pieces.push_back(
        {sequence, place, trace.bytes.substr(at, kPieceBytes), at + kPieceBytes >= trace.bytes.size()});
  return batch;
}

void keep(const std::string& path, const std::vector<Trace>& traces) {
  Writer writer = begin(path);
  for (const Trace& trace : traces) ASSERT_TRUE(writer.write(batch_of(trace)));
  ASSERT_TRUE(writer.commit());
}

// "uid name size digest" of each, and their bytes are what was kept.
std::vector<std::string> told(const std::string& path) {
  Reader reader = open_reader(path);
  std::vector<std::string> lines;
  const auto rows = reader.sequences();
  EXPECT_TRUE(rows) << rows.error().message;
  for (const SequenceRow& row : *rows) {
    const auto bytes = reader.trace_bytes(row);
    EXPECT_TRUE(bytes) << bytes.error().message;
    EXPECT_TRUE(bytes && sha256(*bytes) == row.sequence.digest);
    lines.push_back(row.sequence.uid + " " + row.sequence.name + " " + std::to_string(row.sequence.size) + " " +
                    to_hex(row.sequence.digest));
  }
  EXPECT_EQ(inspect(path, 100, Depth::kEverything)->damages, 0);
  return lines;
}

std::int64_t count(const std::string& path, const std::string& table) {
  auto database = Database::open(path, Database::Mode::kRead, 100);
  return *database->query_integer("SELECT count(*) FROM " + table);
}

TEST(Sequences, AreReadAsTheyWereKeptNewestFirst) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  const Trace old{"a", noise(kPieceBytes * 2 + 17, 1)}, exact{"c", noise(kPieceBytes, 3)};
  const Trace late{"b", "short", DataFlow::kNone, "later", "2026-05-06T00:00:00.000000Z"};
  keep(path, {old, late, exact});
  const auto lines = told(path);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("b later 5 "));
  EXPECT_EQ(count(path, "piece"), 3 + 1 + 1);
  Reader reader = open_reader(path);
  const SequenceRow row = reader.sequences()->front();
  EXPECT_EQ(row.sequence.command, "pytest");
  EXPECT_EQ(row.sequence.calls, 3);
  EXPECT_EQ(row.sequence.operations, 2);
  EXPECT_EQ(row.sequence.flow, DataFlow::kNone);
  EXPECT_GT(row.packed, 0);
}

// Union: whatever comes, in whatever order, together or one by one, the same is there.
TEST(Sequences, TheOrderOfImportsDoesNotMatter) {
  const TestFolder folder;
  std::vector<Trace> traces{{"run/1", noise(3000, 1)},
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
    const std::string path = folder.file("s" + std::to_string(round) + ".db");
    std::vector<Trace> shuffled;
    for (const std::size_t i : order) shuffled.push_back(traces[i]);
    if (round % 2 == 0) {
      keep(path, shuffled);
    } else {
      for (const Trace& trace : shuffled) keep(path, {trace});
    }
    const auto lines = told(path);
    if (expected.empty()) expected = lines;
    EXPECT_EQ(lines, expected) << round;
    EXPECT_EQ(count(path, "piece"), 3);
    keep(path, shuffled);
    EXPECT_EQ(told(path), expected);
  }
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_NE(expected[0] + expected[1], "");
  EXPECT_NE((expected[0] + expected[1]).find("run/1 test_mlp.py 5000 "), std::string::npos);
  EXPECT_NE((expected[0] + expected[1]).find("run/2 a copy "), std::string::npos);
}

TEST(Sequences, ForgettingRemovesOneAndNothingElse) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  keep(path, {{"a", noise(kPieceBytes + 5, 1)}, {"b", noise(100, 2)}});
  {
    Writer writer = begin(path);
    EXPECT_FALSE(*writer.forget_sequence("c"));
    EXPECT_TRUE(*writer.forget_sequence("a"));
    EXPECT_FALSE(*writer.forget_sequence("a"));
    ASSERT_TRUE(writer.commit());
  }
  ASSERT_EQ(told(path).size(), 1u);
  EXPECT_EQ(count(path, "piece"), 1);
  keep(path, {{"a", noise(kPieceBytes + 5, 1)}});  // and it may come again
  EXPECT_EQ(told(path).size(), 2u);
}

TEST(Sequences, ThatWereNotCommittedAreNotThere) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  keep(path, {{"a", noise(100, 1)}});
  {
    Writer writer = begin(path);
    ASSERT_TRUE(writer.write(batch_of({"b", noise(100, 2)})));
    ASSERT_TRUE(*writer.forget_sequence("a"));
  }
  EXPECT_EQ(told(path).size(), 1u);
}

TEST(Sequences, AnOlderStoreHasNone) {
  const TestFolder folder;
  for (int version = 1; version < 6; ++version) {
    const std::string name = "v" + std::to_string(version) + ".db";
    const std::string path = folder.write(name, fixture("stores/" + name));
    EXPECT_TRUE(open_reader(path).sequences()->empty());
    keep(path, {{"a", noise(100, 1)}});
    EXPECT_EQ(told(path).size(), 1u);
  }
}

// Damage that was in a store of schema 5 is not sealed by bringing it up to date.
TEST(Sequences, MigrationKeepsTheChecksumsThatAreThere) {
  const TestFolder folder;
  const std::string path = folder.write("v5.db", fixture("stores/v5.db"));
  {
    auto database = Database::open(path, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("UPDATE occurrence SET count = 99 WHERE form_id = 3"));
  }
  keep(path, {{"a", noise(100, 1)}});
  const auto inspection = inspect(path, 100, Depth::kRows);
  EXPECT_EQ(inspection->schema, kSchemaVersion);
  ASSERT_GT(inspection->damages, 0);
  EXPECT_NE(inspection->listed.front().find("table occurrence"), std::string::npos);
}

// ---- damage

class DamagedSequence : public ::testing::Test {
 protected:
  void SetUp() override { keep(path_, {{"a", noise(kPieceBytes * 3, 1)}, {"b", noise(100, 2)}}); }
  void change(const std::string& sql, bool sealed) {
    {
      auto database = Database::open(path_, Database::Mode::kWrite, 100);
      ASSERT_TRUE(database->execute("PRAGMA foreign_keys = OFF"));
      const Status done = database->execute(sql);
      ASSERT_TRUE(done) << done.error().message;
    }
    if (sealed) seal_again(path_);
  }
  // What asking for the trace says.
  std::string refusal() {
    auto reader = Reader::open(path_, 100);
    if (!reader) return reader.error().message;
    const auto rows = reader->sequences();
    if (!rows) return rows.error().message;
    for (const SequenceRow& row : *rows) {
      const auto bytes = reader->trace_bytes(row);
      if (!bytes) return bytes.error().message;
    }
    return "";
  }
  void expect_told(const std::string& sql, bool sealed) {
    change(sql, sealed);
    EXPECT_NE(refusal().find("the store is damaged"), std::string::npos) << sql << ": " << refusal();
    EXPECT_GT(inspect(path_, 100, Depth::kEverything)->damages, 0) << sql;
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("s.db");
};

TEST_F(DamagedSequence, AChangedPieceIsTold) {
  expect_told("UPDATE piece SET data = zeroblob(50) WHERE place = 1", false);
}
TEST_F(DamagedSequence, AMissingPieceIsTold) { expect_told("DELETE FROM piece WHERE place = 1", false); }
TEST_F(DamagedSequence, AMissingPieceUnderRightChecksumsIsTold) {
  expect_told("DELETE FROM piece WHERE place = 1", true);
}
TEST_F(DamagedSequence, ExchangedPiecesAreTold) {
  expect_told("UPDATE piece SET place = 5 - place; UPDATE piece SET place = place - 3 WHERE place > 2", true);
}
TEST_F(DamagedSequence, ASizeThatIsNotTrueIsTold) { expect_told("UPDATE sequence SET size = size - 1", true); }
TEST_F(DamagedSequence, ADigestThatIsNotTrueIsTold) { expect_told("UPDATE sequence SET digest = zeroblob(7)", true); }
TEST_F(DamagedSequence, AnotherNameIsTold) { expect_told("UPDATE sequence SET name = 'x'", false); }

// A piece may not unpack to more than a piece, however small it is and whatever it says.
TEST_F(DamagedSequence, ABombIsRefused) {
  const std::string bomb = compress(std::string(kPieceBytes * 64, '\0'));
  ASSERT_LT(bomb.size(), kPieceBytes / 16);
  EXPECT_FALSE(decompress(bomb, kPieceBytes));
  EXPECT_FALSE(decompress("", kPieceBytes));
  EXPECT_FALSE(decompress("no zstd", kPieceBytes));
  const std::string cut = compress(noise(1000, 1));
  EXPECT_FALSE(decompress(std::string_view(cut).substr(0, 500), kPieceBytes));
}

TEST_F(DamagedSequence, AnEnormousSizeIsALimitNotAnAllocation) {
  change("UPDATE sequence SET size = 1 << 60 WHERE uid = 'a'", true);
  EXPECT_NE(refusal().find("--max-document"), std::string::npos) << refusal();
  change("UPDATE sequence SET size = -1 WHERE uid = 'a'", true);
  EXPECT_NE(refusal().find("--max-document"), std::string::npos) << refusal();
}

TEST_F(DamagedSequence, IsNeitherReplacedNorForgotten) {
  change("UPDATE piece SET data = zeroblob(50) WHERE place = 1", false);
  Writer writer = begin(path_);
  EXPECT_FALSE(writer.forget_sequence("a"));
  EXPECT_FALSE(writer.write(batch_of({"a", noise(kPieceBytes * 4, 9)})));
}

TEST_F(DamagedSequence, IsSavedWithoutItsDamagedPieces) {
  change("UPDATE piece SET data = zeroblob(50) WHERE place = 1", false);
  std::vector<std::string> lost;
  auto salvage = Salvage::open(path_, 100, [&](const std::string& what) { lost.push_back(what); });
  std::vector<std::string> saved;
  ASSERT_TRUE(salvage->sequences([&](const SequenceRow& row, const std::string& bytes) -> Status {
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(row.sequence.size));
    saved.push_back(bytes);
    return {};
  }));
  ASSERT_EQ(saved.size(), 2u);
  std::string expected = noise(kPieceBytes * 3, 1);
  std::fill_n(expected.begin() + kPieceBytes, kPieceBytes, '\0');
  EXPECT_EQ(saved[0], expected);
  EXPECT_EQ(saved[1], noise(100, 2));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_NE(lost[0].find("table piece, row with sequence_id 1, place 1"), std::string::npos);
  EXPECT_NE(lost[1].find("1 of 3 pieces"), std::string::npos);
}

}  // namespace
}  // namespace opwright::store

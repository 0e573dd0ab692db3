#include "store/sqlite/sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/limits.h"
#include "store/encoding/frame.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"
#include "store/test_sequences.h"

namespace opwright::store::sqlite {
namespace {

void keep(const std::string& path, const std::vector<TestTrace>& traces) {
  Writer writer = begin(path);
  for (const TestTrace& trace : traces) ASSERT_TRUE(writer.write(batch_of(trace)));
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

TEST(Sequences, AnOlderStoreHasNone) {
  const TestFolder folder;
  for (int version = 1; version < 6; ++version) {  // schema 6 brought them
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
  ASSERT_TRUE((*salvage)->sequences([&](const SequenceRow& row, const std::string& bytes) -> Status {
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
}  // namespace opwright::store::sqlite

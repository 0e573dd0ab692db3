#include "store/sqlite/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

// Three configurations of two operations; the terms say which: 1 all, 2 even ids, 3 only the last.
class StoreReader : public ::testing::Test {
 protected:
  StoreReader() {
    Writer writer = begin(path_);
    Batch batch;
    add_call(batch, writer, "a");
    add_call(batch, writer, "b");
    add_call(batch, writer, "c", "ttnn.matmul");
    batch.forms.push_back({FormId{4}, ConfigId{1}, fingerprint("a2"), FormKind::kEra1, 0, 0, 0, "ttnn::add", "[]"});
    const std::uint64_t all = 1, even = 2, last = UINT64_MAX;  // beyond what SQLite's integers hold unsigned
    batch.postings = {{all, {3}}, {all, {1}}, {all, {2}}, {even, {2}}, {last, {3}}};
    EXPECT_TRUE(writer.write(batch));
    const TraceId trace = *writer.trace({"u1", "master", "{}"}), other = *writer.trace({"u2", "master", "{}"});
    const SourceId s = *writer.source({"s.py", "s.py", "hf/m", "m"}), t = *writer.source({"t.py", "t.py", "", "t"});
    const MachineId machine = *writer.machine({"{}", "M x1"});
    EXPECT_TRUE(writer.add_occurrences(
        std::vector<NewOccurrence>{{{1}, t, machine, trace, "", "h1", 5, "{\"k\": 1}", 3},
                                   {{1}, t, machine, trace, "", "h2", 5, ""},  // a copy with another hash
                                   {{1}, s, {0}, other, "sw", "", 2, "", 1},
                                   {{2}, s, machine, trace, "", "", kUncounted, ""},
                                   {{2}, t, machine, trace, "", "", kUncounted, ""},
                                   {{3}, {0}, {0}, trace, "", "", 1, ""}}));
    EXPECT_TRUE(writer.add_examples(std::vector<RaisedExample>{{{1}, "E: text"}}));
    EXPECT_TRUE(writer.commit());
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("s.db");
};

void write_many(const std::string& path) {
  Writer writer = begin(path);
  Batch batch;
  for (std::size_t i = 0; i < 20 * kFormsPerPack + 5; ++i) add_call(batch, writer, std::to_string(i));
  ASSERT_TRUE(writer.write(batch));
  ASSERT_TRUE(writer.commit());
}

TEST_F(StoreReader, AStoreThatIsCutWhileItIsReadIsAnErrorAndNoSignal) {
  const std::string path = folder_.file("many.db");
  write_many(path);
  Reader reader = open_reader(path);
  ASSERT_GT(std::filesystem::file_size(path), 100'000u);
  std::filesystem::resize_file(path, 8192);
  EXPECT_FALSE(reader.forms(ConfigId{static_cast<std::int64_t>(20 * kFormsPerPack)}));
  EXPECT_FALSE(reader.operations());
}

std::int64_t damages_of(const std::string& path, Depth depth = Depth::kEverything) {
  const auto inspection = inspect(path, 100, depth);
  return inspection ? inspection->damages : -1;
}

TEST_F(StoreReader, ASoundStoreIsSound) {
  EXPECT_EQ(damages_of(path_), 0);
  EXPECT_EQ(damages_of(path_, Depth::kRows), 0);
}

TEST_F(StoreReader, RowsThatPointNowhereAreFound) {
  {
    auto database = Database::open(path_, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("PRAGMA foreign_keys = OFF; DELETE FROM configuration WHERE id = 2"));
  }
  EXPECT_GT(damages_of(path_), 0);
  const auto asked = open_reader(path_).operations();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::kBadInput);
}

TEST_F(StoreReader, DamagedPacksAndListsAreErrors) {
  {
    auto database = Database::open(path_, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("UPDATE pack SET data = x'00112233'; UPDATE posting SET steps = x'ff'"));
  }
  Reader reader = open_reader(path_);
  EXPECT_EQ(reader.forms(ConfigId{1}).error().code, ErrorCode::kBadInput);
  EXPECT_EQ(reader.candidates(with_terms({1})).error().code, ErrorCode::kBadInput);
  EXPECT_EQ(reader.forms(ConfigId{1}).error().code, ErrorCode::kBadInput);  // asking again is no other error
}

TEST_F(StoreReader, CheckFindsDamagedPacksAndLists) {
  {
    auto database = Database::open(path_, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("UPDATE pack SET data = x'00112233'"));
  }
  EXPECT_GT(damages_of(path_), 0);
  EXPECT_GT(damages_of(path_, Depth::kRows), 0);
}

TEST_F(StoreReader, ADamagedFileIsFound) {
  std::string bytes = content_of(path_);
  ASSERT_GT(bytes.size(), 40000u);
  for (std::size_t i = 16384; i < 32768; ++i) bytes[i] = static_cast<char>(0x5A);
  const std::string path = folder_.write("damaged.db", bytes);
  EXPECT_NE(damages_of(path), 0);
}

TEST(StoreReaderOpen, WhatIsNoStoreSaysWhatToDo) {
  const TestFolder folder;
  const auto missing = Reader::open(folder.file("s.db"), 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(folder.entries(), 0u);  // asking makes no file
  EXPECT_EQ(Reader::open(folder.write("empty.db", ""), 100).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Reader::open(folder.write("text.db", std::string(5000, 'x')), 100).error().code, ErrorCode::kBadInput);
}

}  // namespace
}  // namespace opwright::store::sqlite

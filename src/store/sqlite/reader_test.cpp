#include "store/sqlite/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite/inspect.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"

namespace opwright::store {
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
    const TraceId trace = *writer.trace("u1", "master", "{}"), other = *writer.trace("u2", "master", "{}");
    const SourceId s = *writer.source({"s.py", "s.py", "hf/m", "m"}), t = *writer.source({"t.py", "t.py", "", "t"});
    const MachineId machine = *writer.machine("{}", "M x1");
    EXPECT_TRUE(writer.add_occurrences({{{1}, t, machine, trace, "", "h1", 5, "{\"k\": 1}", 3},
                                        {{1}, t, machine, trace, "", "h2", 5, ""},  // a copy with another hash
                                        {{1}, s, {0}, other, "sw", "", 2, "", 1},
                                        {{2}, s, machine, trace, "", "", kUncounted, ""},
                                        {{2}, t, machine, trace, "", "", kUncounted, ""},
                                        {{3}, {0}, {0}, trace, "", "", 1, ""}}));
    EXPECT_TRUE(writer.add_examples({{{1}, "E: text"}}));
    EXPECT_TRUE(writer.commit());
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("s.db");
};

std::vector<std::int64_t> ids(const Result<std::vector<ConfigId>>& result) {
  std::vector<std::int64_t> numbers;
  for (const ConfigId id : *result) numbers.push_back(id.value);
  return numbers;
}

using Ids = std::vector<std::int64_t>;

TEST_F(StoreReader, Totals) {
  const Totals totals = *open_reader(path_).totals();
  EXPECT_EQ(totals.operations, 2);
  EXPECT_EQ(totals.configurations, 3);
  EXPECT_EQ(totals.forms, 4);
  EXPECT_EQ(totals.sources, 2);
  EXPECT_EQ(totals.machines, 1);
  EXPECT_EQ(totals.traces, 2);
  EXPECT_EQ(totals.schema, kSchemaVersion);
  EXPECT_GT(totals.bytes, 0);
}

TEST_F(StoreReader, OperationsCountCallsOnce) {
  const auto rows = *open_reader(path_).operations();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "ttnn.add");
  EXPECT_EQ(rows[0].configurations, 2);
  EXPECT_EQ(rows[0].calls, 5 + 2 + 1);  // the copy adds nothing; what is not counted stands for one call a trace
  EXPECT_EQ(rows[0].uncounted, 1);
  EXPECT_EQ(rows[0].sources, 2);
  EXPECT_EQ(rows[0].raised, 3 + 1);  // once, though the copy does not say it
  EXPECT_EQ(rows[1].name, "ttnn.matmul");
  EXPECT_EQ(rows[1].calls, 1);
  EXPECT_EQ(rows[1].raised, 0);
  EXPECT_EQ(rows[1].sources, 0);  // not known is no source
  EXPECT_EQ(*open_reader(path_).operation_names(), (std::vector<std::string>{"ttnn.add", "ttnn.matmul"}));
}

TEST_F(StoreReader, CandidatesHaveAllTerms) {
  Reader reader = open_reader(path_);
  const auto with = [&](std::vector<std::uint64_t> terms) { return ids(reader.candidates(terms)); };
  EXPECT_EQ(with({}), (Ids{1, 2, 3}));
  EXPECT_EQ(with({1}), (Ids{1, 2, 3}));
  EXPECT_EQ(with({1, 2}), (Ids{2}));
  EXPECT_EQ(with({UINT64_MAX, 1}), (Ids{3}));
  EXPECT_EQ(with({2, UINT64_MAX}), (Ids{}));
  EXPECT_EQ(with({1, 99}), (Ids{}));
}

TEST_F(StoreReader, ATermsListGoesOnInLaterImports) {
  {
    Writer writer = begin(path_);
    Batch batch;
    add_call(batch, writer, "d");
    batch.configurations[0].id = {4};
    batch.postings = {{1, {4}}, {2, {4}}};
    ASSERT_TRUE(writer.write(batch));
    ASSERT_TRUE(writer.commit());
  }
  Reader reader = open_reader(path_);
  EXPECT_EQ(ids(reader.candidates(std::vector<std::uint64_t>{1})), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(ids(reader.candidates(std::vector<std::uint64_t>{1, 2})), (Ids{2, 4}));
}

TEST_F(StoreReader, FormsAreKeptToTheLetterInTheOrderOfTheirFingerprints) {
  Reader reader = open_reader(path_);
  const auto forms = *reader.forms(ConfigId{1});
  ASSERT_EQ(forms.size(), 2u);
  const auto& era2 = forms[0].kind == FormKind::kEra2 ? forms[0] : forms[1];
  const auto& era1 = forms[0].kind == FormKind::kEra2 ? forms[1] : forms[0];
  EXPECT_EQ(era2.text, R"({"name": "a"})");
  EXPECT_EQ(era2.op, "ttnn.add");
  EXPECT_EQ(era1.text, "[]");
  EXPECT_EQ(era1.op, "ttnn::add");
  EXPECT_EQ(era1.id.value, 4);
  EXPECT_EQ(era2.error, "E: text");
  EXPECT_EQ(era1.error, "");
  EXPECT_TRUE(reader.forms(ConfigId{99})->empty());
}

TEST_F(StoreReader, OccurrencesAreSortedByWhatTheySay) {
  Reader reader = open_reader(path_);
  const auto rows = *reader.occurrences(*reader.forms(ConfigId{1}));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].source, "s.py");
  EXPECT_EQ(rows[0].model, "m");
  EXPECT_EQ(rows[0].hf_model, "hf/m");
  EXPECT_EQ(rows[0].machine, "");
  EXPECT_EQ(rows[0].trace_uid, "u2");
  EXPECT_EQ(rows[0].sweep_source_hash, "sw");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].raised, 1);
  EXPECT_EQ(rows[1].source, "t.py");
  EXPECT_EQ(rows[1].machine_label, "M x1");
  EXPECT_EQ((std::vector<std::string>{rows[1].config_hash, rows[2].config_hash}),
            (std::vector<std::string>{"h1", "h2"}));
  EXPECT_EQ(rows[1].extra, "{\"k\": 1}");
  EXPECT_EQ((std::vector<std::int64_t>{rows[1].raised, rows[2].raised}), (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(reader.occurrences(*reader.forms(ConfigId{2}))->front().count, kUncounted);
}

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

TEST_F(StoreReader, MoreFormsThanOnePackHolds) {
  const std::string path = folder_.file("many.db");
  write_many(path);
  Reader reader = open_reader(path);
  for (std::size_t i = 20 * kFormsPerPack + 5; i-- > 0;) {
    const auto forms = reader.forms(ConfigId{static_cast<std::int64_t>(i + 1)});
    ASSERT_TRUE(forms) << forms.error().message;
    EXPECT_EQ(forms->at(0).text, "{\"name\": \"" + std::to_string(i) + "\"}");
  }
}

TEST_F(StoreReader, AReaderSeesOneState) {
  Reader reader = open_reader(path_);
  EXPECT_EQ(reader.totals()->configurations, 3);
  Writer writer = begin(path_);
  Batch batch;
  add_call(batch, writer, "z");
  batch.forms[0].id = writer.next_form();
  ASSERT_TRUE(writer.write(batch));
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(reader.totals()->configurations, 3);
  EXPECT_EQ(open_reader(path_).totals()->configurations, 4);
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
  EXPECT_EQ(reader.candidates(std::vector<std::uint64_t>{1}).error().code, ErrorCode::kBadInput);
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

TEST_F(StoreReader, AKeyIsFoundByItsBeginning) {
  Reader reader = open_reader(path_);
  const std::string hex = to_hex(key("b"));
  EXPECT_EQ(ids(reader.with_key(hex)), (Ids{2}));
  EXPECT_EQ(ids(reader.with_key(hex.substr(0, 7))), (Ids{2}));  // an odd number of digits too
  EXPECT_EQ(ids(reader.with_key(to_hex(key("none")))), (Ids{}));
}

}  // namespace
}  // namespace opwright::store

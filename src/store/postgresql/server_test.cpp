// What only a store on a server does: writers that do not wait, lost connections, old and foreign schemas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "model/record_fields.h"
#include "store/conformance/server_place.h"
#include "store/test_calls.h"
#include "store/test_runs.h"

namespace opwright::store {
namespace {

using ::testing::HasSubstr;

class ServerStore : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = no_server(); !why.empty()) GTEST_SKIP() << why;
    place_ = server_place();
  }
  std::unique_ptr<Store> store() { return place_->store(); }
  std::unique_ptr<ResultsWriter> results_writer(int wait_ms = 10000) { return *store()->results_writer(wait_ms); }
  // Ends every connection of the program, as a server that falls does.
  int cut() {
    return std::stoi(
        place_->ask("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = "
                    "current_database() AND application_name = 'opwright'"));
  }
  std::string count(const std::string& table) { return place_->ask("SELECT count(*) FROM opwright." + table); }

  std::unique_ptr<ServerPlace> place_;
};

TEST_F(ServerStore, ResultsAreWrittenBesideAnImport) {
  const auto results = results_writer();
  ASSERT_TRUE(results->begin(run_named("one")));
  const auto import = *store()->writer(100, kIdentity);
  Batch batch;
  add_call(batch, *import, "a");
  ASSERT_TRUE(import->write(batch));
  ASSERT_TRUE(results->add("one", at(0)));
  EXPECT_EQ((*store()->results_reader(100))->done("one")->size(), 1u);  // while the import is open
  ASSERT_TRUE(import->commit());
}

TEST_F(ServerStore, AResultIsAddedOnceWhenTheConnectionIsLost) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  for (int i = 0; i < 30; ++i) {
    if (i % 10 == 3) {
      EXPECT_EQ(cut(), 1);
    }
    ASSERT_TRUE(writer->add("one", at(i)));
  }
  cut();
  const std::vector<CaseRecord> more{at(30), at(31), at(29)};
  ASSERT_TRUE(writer->add("one", more));
  cut();
  ASSERT_TRUE(writer->end("one", "complete", "now"));
  EXPECT_EQ((*store()->results_reader(100))->done("one")->size(), 32u);
  EXPECT_EQ(count("result"), "32");
  EXPECT_EQ((*store()->results_reader(100))->find_run("one")->status, "complete");
}

TEST_F(ServerStore, ARunThatBeginsIsThereOnceWhenTheConnectionIsLost) {
  const auto writer = results_writer();
  cut();
  ASSERT_TRUE(writer->begin(run_named("one")));
  EXPECT_FALSE(writer->begin(run_named("one")));
  EXPECT_EQ(count("run"), "1");
}

TEST_F(ServerStore, ManyResultsAreThereAllOrNotAtAll) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  std::vector<CaseRecord> records;
  for (int i = 0; i < 500; ++i) records.push_back(at(i));
  ASSERT_TRUE(writer->add("one", records));
  EXPECT_EQ(count("result"), "500");
  place_->ask("ALTER TABLE opwright.result ADD CONSTRAINT few CHECK (place < 900)");
  for (int i = 0; i < 500; ++i) records[static_cast<std::size_t>(i)].index = i + 500;
  EXPECT_FALSE(writer->add("one", records));
  EXPECT_EQ(count("result"), "500");
  EXPECT_TRUE(writer->add("one", at(501)));  // an error leaves the writer usable
}

TEST_F(ServerStore, AnImportWhoseConnectionIsLostLeavesNothingAndSaysSo) {
  ASSERT_TRUE((*store()->writer(100, kIdentity))->commit());
  const auto writer = *store()->writer(100, kIdentity);
  Batch batch;
  add_call(batch, *writer, "a");
  ASSERT_TRUE(writer->write(batch));
  cut();
  const Status done = writer->commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_THAT(done.error().message, HasSubstr("lost"));
  EXPECT_EQ(count("configuration"), "0");
  EXPECT_TRUE(store()->writer(5000, kIdentity));  // nothing is locked
}

TEST_F(ServerStore, ManyProcessesMakeTheTablesOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const auto writer = store()->results_writer(20000);
      ASSERT_TRUE(writer) << writer.error().message;
      EXPECT_TRUE((*writer)->begin(run_named("run" + std::to_string(i))));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count("run"), "8");
  EXPECT_EQ(count("setting"), "1");
}

TEST_F(ServerStore, LaterAndForeignSchemasAreRefused) {
  place_->ask("CREATE SCHEMA opwright");
  place_->ask("CREATE TABLE opwright.other (a bigint)");
  EXPECT_THAT(store()->writer(100, kIdentity).error().message, HasSubstr("is not a store"));
  EXPECT_THAT(store()->reader(100).error().message, HasSubstr("is not a store"));
  place_->ask("DROP SCHEMA opwright CASCADE");
  ASSERT_TRUE((*store()->writer(100, kIdentity))->commit());
  place_->ask("UPDATE opwright.setting SET value = '2' WHERE name = 'schema'");
  for (const Error& error : {store()->writer(100, kIdentity).error(), store()->reader(100).error(),
                             store()->lookup(100).error(), store()->results_writer(100).error()}) {
    EXPECT_EQ(error.code, ErrorCode::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr("newer opwright (schema 2"));
  }
}

TEST_F(ServerStore, TheColumnsOfAResultAreThoseOfTheList) {
  ASSERT_TRUE(results_writer()->begin(run_named("one")));
  EXPECT_EQ(
      place_->ask("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'opwright' AND table_name "
                  "= 'result'"),
      std::to_string(kStoredFields + 1));
}

TEST_F(ServerStore, OddTextComesBack) {
  const std::string odd("nul \0 cut \xc3 spelled \xee\xb8\x80 \xff", 24);
  {
    const auto writer = *store()->writer(100, kIdentity);
    Batch batch;
    add_call(batch, *writer, "a");
    batch.forms.front().op = odd;
    ASSERT_TRUE(writer->write(batch));
    const SourceId source = *writer->source({odd, odd, odd, odd});
    EXPECT_EQ(*writer->source({odd, "", "", ""}), source);
    const TraceId trace = *writer->trace({odd, "f", "{}"});
    ASSERT_TRUE(writer->add_occurrences(std::vector<NewOccurrence>{{{1}, source, {0}, trace, odd, odd, 1, odd}}));
    ASSERT_TRUE(writer->add_examples(std::vector<RaisedExample>{{{1}, odd}}));
    ASSERT_TRUE(writer->commit());
  }
  const auto reader = *store()->reader(100);
  const auto forms = *reader->forms(ConfigId{1});
  EXPECT_EQ(forms.at(0).op, odd);
  EXPECT_EQ(forms.at(0).error, odd);
  const auto rows = *reader->occurrences(forms);
  ASSERT_EQ(rows.size(), 1u);
  for (const std::string& text : {rows[0].source, rows[0].model, rows[0].hf_model, rows[0].trace_uid,
                                  rows[0].sweep_source_hash, rows[0].config_hash, rows[0].extra})
    EXPECT_EQ(text, odd);
}

}  // namespace
}  // namespace opwright::store

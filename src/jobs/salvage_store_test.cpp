#include "jobs/salvage_store.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "jobs/diff_configs.h"
#include "jobs/import_results.h"
#include "jobs/run_suite.h"
#include "report/exports.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

// A store with the configurations of one small model, and one run of them.
class SalvageStore : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ingest({fixture_path("demo/tiny_llm.json")}, {.store = store()}));
    const auto ran = run_suite({.store = store(), .choice = {.device = "null"}, .jobs = 1});
    ASSERT_TRUE(ran) << ran.error().message;
    results_ = ran->analysis.total;
    uid_ = ran->run.uid;
  }
  std::string store() const { return folder_.file("s.db"); }

  TestFolder folder_;
  std::int64_t results_ = 0;
  std::string uid_;
};

TEST_F(SalvageStore, OfASoundStoreEverythingIsSaved) {
  const auto report = salvage_store({.store = store(), .target = folder_.file("new.db")});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->lost.empty()) << report->lost.front();
  EXPECT_EQ(report->runs, 1);
  EXPECT_EQ(report->results, results_);
  const auto diff = diff_configs({.a = store(), .b = folder_.file("new.db")});
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_TRUE(diff->equal());
}

TEST_F(SalvageStore, NothingIsWrittenOverAndNothingIsMadeOfNothing) {
  const std::string there = folder_.write("there.db", "mine");
  EXPECT_EQ(salvage_store({.store = store(), .target = there}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(content_of(there), "mine");
  EXPECT_EQ(salvage_store({.store = folder_.file("nowhere.db"), .target = folder_.file("new.db")}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(SalvageStore, TheIndexMeansWhatTheTextsMean) {
  store::sqlite::Inspection inspection;
  const auto checked = check_meaning(store(), 100, inspection);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(*checked, results_) << "one case a configuration";
  EXPECT_EQ(inspection.damages, 0);
}

TEST_F(SalvageStore, ResultsOfAnotherStoreComeInOnce) {
  const std::string lines = folder_.file("run.jsonl");
  const auto reader = *store::open_results(store(), 100);
  ASSERT_TRUE(report::write_jsonl(lines, *reader->find_run("last"),
                                  [&](const report::UseResult& use) { return reader->for_each(uid_, use); }));
  const ResultsImport request{.store = folder_.file("other.db"), .files = {lines}};
  for (const std::int64_t added : {results_, std::int64_t{0}}) {
    const auto imported = import_results(request);
    ASSERT_TRUE(imported) << imported.error().message;
    ASSERT_EQ(imported->size(), 1U);
    EXPECT_EQ(imported->front().run, uid_);
    EXPECT_EQ(imported->front().results, results_);
    EXPECT_EQ(imported->front().added, added);
  }
  EXPECT_EQ((*store::open_results(request.store, 100))->find_run(uid_)->status, "complete");
}

TEST_F(SalvageStore, AFileThatIsNoneChangesNothing) {
  const std::string bad = folder_.write("bad.jsonl", "{\"not\": \"a run\"}\n");
  EXPECT_FALSE(import_results({.store = folder_.file("other.db"), .files = {bad}}));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("other.db")));
}

}  // namespace
}  // namespace opwright::jobs

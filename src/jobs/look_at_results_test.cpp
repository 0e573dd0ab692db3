#include "jobs/look_at_results.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"
#include "jobs/ingest.h"
#include "jobs/run_suite.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;

// Two runs of one small model, which compute nothing: every case is accepted.
class LookAtResults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    ASSERT_TRUE(ingest({fixture_path("demo/tiny_llm.json")}, {.store = store()}));
    for (int i = 0; i < 2; ++i) {
      const auto ran = run_suite({.store = store(), .choice = {.device = "null"}, .command = "a test", .jobs = 1}, {});
      ASSERT_TRUE(ran) << ran.error().message;
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string store() { return folder_->file("s.db"); }
  static ResultsQuestion question() { return {.store = store(), .wait_ms = 100, .filter = {}}; }
  static RunResults last() {
    auto results = RunResults::open(question(), "last");
    EXPECT_TRUE(results) << results.error().message;
    return *std::move(results);
  }

  static inline TestFolder* folder_ = nullptr;
};

TEST_F(LookAtResults, RunsAreListedWithWhatBecameOfTheirCases) {
  const auto runs = runs_of(question());
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2U);
  for (const RunOverview& one : *runs) {
    EXPECT_EQ(one.run.status, "complete");
    ASSERT_EQ(one.outcomes.size(), 1U);
    EXPECT_GT(one.outcomes.at(Outcome::kAccepted), 3);
  }
}

TEST_F(LookAtResults, OneRunIsAnalysedAsOftenAsSomebodyAsks) {
  const RunResults results = last();
  for (int i = 0; i < 2; ++i) {
    const auto analysis = results.analyse(5);
    ASSERT_TRUE(analysis) << analysis.error().message;
    EXPECT_GT(analysis->total, 3);
    EXPECT_EQ(analysis->failed, 0);
  }
  EXPECT_TRUE(results.coverage());
  EXPECT_NE(RunResults::open(question(), "last~1")->run().uid, results.run().uid);
  EXPECT_FALSE(RunResults::open(question(), "last~2"));
}

TEST_F(LookAtResults, EqualRunsDifferInNothing) {
  const auto diff = diff_results(question(), "last~1", "last");
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_GT(diff->both, 3);
  EXPECT_EQ(diff->same_outcome, diff->both);
  EXPECT_TRUE(diff->changed.empty() && diff->new_failures.empty() && diff->only_a.empty() && diff->only_b.empty());
}

TEST_F(LookAtResults, TargetsAreReadAndWritten) {
  for (const char* wrong : {"csv", "csv:", "xml:x", ""})
    EXPECT_EQ(parse_results_target(wrong).error().code, ErrorCode::kUsage) << wrong;
  const TestFolder out;
  std::vector<ResultsTarget> targets;
  for (const char* text : {"csv", "junit", "jsonl", "sweep"}) {
    const auto target = parse_results_target(std::string(text) + ":" + out.file(text));
    ASSERT_TRUE(target) << target.error().message;
    targets.push_back(*target);
  }
  const auto written = export_results(last(), targets);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), 4U);
  EXPECT_EQ(out.entries(), 4U);
}

TEST_F(LookAtResults, APageIsWrittenIntoItsFolder) {
  const TestFolder out;
  const auto page = write_page(question(), "last", out.file("a/page"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->path, out.file("a/page/index.html"));
  EXPECT_GT(page->results, 3);
  EXPECT_EQ(page->run.uid, last().run().uid);
  EXPECT_EQ(page->bytes, static_cast<std::int64_t>(fs::file_size(page->path)));
  EXPECT_NE(content_of(page->path).find(page->run.uid), std::string::npos);
}

TEST_F(LookAtResults, APageThatCannotBeWrittenSaysWhere) {
  const TestFolder out;
  const std::string file = out.write("file", "");
  const auto page = write_page(question(), "last", file + "/page");
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find(file), std::string::npos) << page.error().message;
  EXPECT_FALSE(write_page(question(), "no such run", out.file("page")));
  EXPECT_EQ(out.entries(), 1U);
}

}  // namespace
}  // namespace opwright::jobs

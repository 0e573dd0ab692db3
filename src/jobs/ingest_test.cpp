#include "jobs/ingest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/test_folder.h"
#include "jobs/question.h"

namespace opwright::jobs {
namespace {

ImportReport imported(const std::vector<std::string>& paths, const IngestOptions& options) {
  const auto report = ingest(paths, options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : ImportReport();
}

std::int64_t configurations(const std::string& store) { return (*open_reader(store, 100))->totals()->configurations; }

constexpr int kMany = 2000;  // so many calls that an import looks up in between

std::string many_calls(const TestFolder& folder) {
  std::string text;
  for (int i = 1; i <= kMany; ++i)
    text +=
        fmt::format(R"({{"op_name": "ttnn.relu", "inputs": [{{"__type__": "ttnn.TensorRef", "shape": [1, 1, 32, {}], )"
                    R"("dtype": "DataType.BFLOAT16"}}], "kwargs": {{}}}})"
                    "\n",
                    32 * i);
  return folder.write("ops.jsonl", text);
}

TEST(Ingest, ReportsWhatIsNewAndWhatIsKnown) {
  const TestFolder folder;
  const IngestOptions options{.store = folder.file("s.db")};
  const ImportReport first = imported({fixture_path("demo/tiny_llm.json")}, options);
  EXPECT_TRUE(first.written);
  EXPECT_FALSE(first.refused);
  EXPECT_EQ(first.files, 1U);
  EXPECT_GT(first.configurations, 3);
  EXPECT_EQ(first.added, first.configurations);
  const ImportReport second = imported({fixture_path("demo/tiny_llm.json")}, options);
  EXPECT_EQ(second.added, 0);
  EXPECT_EQ(second.known, first.configurations);
  EXPECT_EQ(second.calls, first.calls);
  EXPECT_EQ(configurations(options.store), first.configurations);
}

TEST(Ingest, ADryRunReportsTheSameAndWritesNothing) {
  const TestFolder folder;
  const ImportReport report =
      imported({fixture_path("demo/tiny_llm.json")}, {.store = folder.file("s.db"), .dry_run = true});
  EXPECT_FALSE(report.written);
  EXPECT_GT(report.added, 3);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(Ingest, StrictReportsTheLossesAndWritesNothing) {
  const TestFolder folder;
  const ImportReport report =
      imported({fixture_path("jsonl/damaged.jsonl")}, {.store = folder.file("s.db"), .strict = true});
  EXPECT_TRUE(report.refused);
  EXPECT_FALSE(report.written);
  EXPECT_GT(report.lost(), 0);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(Ingest, AStopLeavesTheStoreAsItWas) {
  const TestFolder folder;
  IngestOptions options{.store = folder.file("s.db")};
  const std::int64_t before = imported({fixture_path("demo/tiny_llm.json")}, options).configurations;
  options.stop = [] { return true; };
  const ImportReport report = imported({fixture_path("master/era1_1a.json")}, options);
  EXPECT_TRUE(report.stopped);
  EXPECT_FALSE(report.written);
  EXPECT_EQ(configurations(options.store), before);
}

TEST(Ingest, TellsHowFarItIs) {
  const TestFolder folder;
  std::vector<std::int64_t> told;
  IngestOptions options{.store = folder.file("s.db"), .between = std::chrono::milliseconds(0)};
  options.progress = [&](const ImportReport& so_far) { told.push_back(so_far.configurations); };
  const ImportReport report = imported({many_calls(folder)}, options);
  EXPECT_EQ(report.configurations, kMany);
  ASSERT_GT(told.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_LT(told.front(), told.back());
}

TEST(Ingest, AStopInTheMiddleReadsNoFurtherAndMakesNoStore) {
  const TestFolder folder;
  int asked = 0;
  IngestOptions options{.store = folder.file("s.db"), .between = std::chrono::milliseconds(0)};
  options.stop = [&] { return ++asked == 2; };
  const ImportReport report = imported({many_calls(folder)}, options);
  EXPECT_TRUE(report.stopped);
  EXPECT_GT(report.configurations, 0);
  EXPECT_LT(report.configurations, kMany);
  EXPECT_FALSE(std::filesystem::exists(options.store));
}

TEST(Ingest, AnInputThatIsNoneIsAnErrorAndLeavesNoStore) {
  const TestFolder folder;
  const auto report = ingest({folder.file("nowhere.json")}, {.store = folder.file("s.db")});
  ASSERT_FALSE(report);
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace opwright::jobs

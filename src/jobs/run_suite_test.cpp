#include "jobs/run_suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "jobs/ingest.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

// The configurations of one small model, in a store of their own.
class RunSuite : public testing::Test {
 protected:
  void SetUp() override {
    const auto imported = ingest({fixture_path("demo/tiny_llm.json")}, {.store = store()});
    ASSERT_TRUE(imported) << imported.error().message;
  }
  std::string store() const { return folder_.file("s.db"); }
  RunRequest request(RunChoice choice = {.device = "null"}) const {
    return {.store = store(), .choice = std::move(choice), .command = "a test", .jobs = 1};
  }
  std::vector<RunRecord> runs() const { return *(*store::open_results(store(), 100))->runs(); }

  TestFolder folder_;
};

RunReport report_of(const Result<RunReport>& report) {
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : RunReport();
}

TEST_F(RunSuite, RunsWhatIsStoredAndReportsIt) {
  std::vector<std::string> told;
  std::int64_t ended = 0;
  RunWatcher watcher;
  watcher.planned = [&](const PlanSummary&) { told.emplace_back("planned"); };
  watcher.begins = [&](const RunSize& size) {
    told.emplace_back("begins");
    EXPECT_GT(size.total, 3);
    EXPECT_EQ(size.done_before, 0);
  };
  watcher.case_ended = [&](int, const CaseRecord& record) {
    ++ended;
    EXPECT_EQ(record.outcome, Outcome::kAccepted) << record.line << ": " << record.reason;
  };
  watcher.ended = [&](const RunnerSummary* ran) { told.emplace_back(ran != nullptr ? "ended" : "broken off"); };
  const RunReport report = report_of(run_suite(request(), watcher));
  EXPECT_EQ(told, (std::vector<std::string>{"planned", "begins", "ended"}));
  EXPECT_EQ(report.end, RunReport::End::kRan);
  EXPECT_EQ(report.plan.all.cases, ended);
  EXPECT_EQ(report.analysis.total, ended);
  EXPECT_EQ(report.analysis.failed, 0);
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(runs()[0].uid, report.run.uid);
  EXPECT_EQ(runs()[0].status, "complete");
  EXPECT_EQ(runs()[0].command, "a test");
}

TEST_F(RunSuite, ADryRunTellsThePlanAndStoresNothing) {
  RunRequest dry = request({.device = "sim"});
  dry.dry_run = true;
  const RunReport report = report_of(run_suite(dry));
  EXPECT_EQ(report.end, RunReport::End::kPlanned);
  std::int64_t cases = 0;
  for (const auto& [op, row] : report.plan.operations) cases += row.cases;
  EXPECT_EQ(cases, report.plan.all.cases);
  EXPECT_GT(report.plan.all.seconds, 0);
  EXPECT_TRUE(runs().empty());
}

TEST_F(RunSuite, ShardsShareTheCases) {
  RunRequest dry = request();
  dry.dry_run = true;
  const std::int64_t all = report_of(run_suite(dry)).plan.all.cases;
  std::int64_t sum = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    dry.choice.shard = shard;
    const RunReport part = report_of(run_suite(dry));
    sum += part.plan.all.cases;
    EXPECT_EQ(part.plan.all.cases + part.plan.other_shards, all) << shard;
  }
  EXPECT_EQ(sum, all);
}

TEST_F(RunSuite, AStopLetsItEndWellAndResumeDoesTheRest) {
  std::int64_t first = 0;
  RunWatcher watcher;
  watcher.case_ended = [&](int, const CaseRecord&) { ++first; };
  watcher.stop = [&] { return first > 0 ? 1 : 0; };
  const RunReport stopped = report_of(run_suite(request(), watcher));
  EXPECT_TRUE(stopped.ran.interrupted);
  EXPECT_GE(first, 1);
  EXPECT_LT(first, stopped.plan.all.cases);
  EXPECT_EQ(stopped.analysis.total, first);
  EXPECT_EQ(runs().at(0).status, "interrupted");

  std::int64_t second = 0;
  std::string resumed;
  watcher = {};
  watcher.resumed = [&](const RunRecord& run) { resumed = run.uid; };
  watcher.begins = [&](const RunSize& size) { EXPECT_EQ(size.done_before, first); };
  watcher.case_ended = [&](int, const CaseRecord&) { ++second; };
  RunRequest again = request({});
  again.resume = "last";
  const RunReport rest = report_of(run_suite(again, watcher));
  EXPECT_EQ(resumed, stopped.run.uid);
  EXPECT_EQ(rest.run.uid, stopped.run.uid);
  EXPECT_EQ(first + second, stopped.plan.all.cases);
  EXPECT_EQ(rest.analysis.total, stopped.plan.all.cases);
  EXPECT_EQ(runs().at(0).status, "complete");

  const RunReport nothing = report_of(run_suite(again));
  EXPECT_EQ(nothing.end, RunReport::End::kNothingToResume);
  EXPECT_EQ(nothing.run.uid, stopped.run.uid);
}

TEST_F(RunSuite, AStopBeforeADeviceAnswersLeavesNoRun) {
  RunWatcher watcher;
  for (const int asked : {1, 2}) {
    watcher.stop = [&] { return asked; };
    const RunReport report = report_of(run_suite(request(), watcher));
    EXPECT_EQ(report.end, RunReport::End::kNotBegun);
    EXPECT_EQ(report.ran.cases, 0);
    EXPECT_TRUE(runs().empty());
  }
}

// One relu on the device that misbehaves on request; 7 tiles are a wrong result (exec/selftest_device.h).
std::string suite_text(const std::string& name, int tiles) {
  return fmt::format(
      "suites:\n  {}:\n    - op: ttnn.relu\n      parameters: {{input_tensor: ['tensor([1,1,32,{}] BFLOAT16 TILE "
      "DEVICE memory(DRAM INTERLEAVED))']}}\n",
      name, tiles * 32);
}

TEST_F(RunSuite, ACaseThatFailsIsNoErrorAndIsBlamed) {
  std::vector<CaseRecord> ended;
  RunWatcher watcher;
  watcher.case_ended = [&](int, const CaseRecord& record) { ended.push_back(record); };
  const RunReport report = report_of(
      run_suite(request({.suites = folder_.write("s.yaml", suite_text("odd", 7)), .device = "selftest"}), watcher));
  EXPECT_EQ(report.analysis.failed, 1);
  EXPECT_GT(report.ran.repetitions, 0);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].outcome, Outcome::kFailed);
  EXPECT_EQ(ended[0].blame, Blame::kOperator);
}

TEST_F(RunSuite, AnExpectedFailureIsStoredAsOne) {
  const RunReport report = report_of(
      run_suite(request({.suites = folder_.write("s.yaml", suite_text("xfail_odd", 7)), .device = "selftest"})));
  EXPECT_EQ(report.analysis.failed, 0);
  EXPECT_EQ(report.analysis.outcomes.at(Outcome::kXfailed), 1);
}

TEST_F(RunSuite, WhatLeavesNoCaseIsAnError) {
  const auto report = run_suite(request({.where = "op=nothing_like_this", .device = "null"}));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(runs().empty());
}

TEST_F(RunSuite, AWorkerThatCannotStartBreaksTheRunOffAndLeavesNone) {
  RunRequest broken = request();
  broken.worker = {"/nowhere/opwright", "worker"};
  bool told = false;
  RunWatcher watcher;
  watcher.ended = [&](const RunnerSummary* ran) { told = ran == nullptr; };
  const auto report = run_suite(broken, watcher);
  ASSERT_FALSE(report);
  EXPECT_TRUE(told);
  EXPECT_NE(report.error().message.find("no case was run, and no run was stored"), std::string::npos)
      << report.error().message;
  EXPECT_TRUE(runs().empty());
}

TEST_F(RunSuite, TooManyJobsAreRefused) {
  RunRequest many = request();
  many.jobs = 1025;
  EXPECT_EQ(run_suite(many).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace opwright::jobs

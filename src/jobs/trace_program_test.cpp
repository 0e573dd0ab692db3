#include "jobs/trace_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/test_folder.h"

namespace opwright::jobs {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(TracedItems, AProgramTestsAndAListBecomeCommands) {
  const TestFolder folder;
  const std::string test = folder.write("test_model.py", ""), script = folder.write("model.py", "");
  const std::string list = folder.write("list", "# a comment\n\n  ./run --token=abc123\n./other\n");
  const auto items = traced_items({"./program", "--api-key=abc123"}, {test, script, test + "::test_one"}, list);
  ASSERT_TRUE(items) << items.error().message;
  ASSERT_EQ(items->size(), 6U);
  EXPECT_EQ((*items)[0].command, (Words{"./program", "--api-key=abc123"}));
  EXPECT_EQ((*items)[0].shown.find("abc123"), std::string::npos) << (*items)[0].shown;
  EXPECT_EQ((*items)[1].command, (Words{"python3", "-m", "pytest", test}));
  EXPECT_EQ((*items)[2].command, (Words{"python3", script}));
  EXPECT_EQ((*items)[3].command, (Words{"python3", "-m", "pytest", test + "::test_one"}));
  EXPECT_EQ((*items)[4].command, (Words{"/bin/sh", "-c", "./run --token=abc123"}));
  EXPECT_EQ((*items)[4].shown.find("abc123"), std::string::npos) << (*items)[4].shown;
  EXPECT_EQ((*items)[5].shown, "./other");
}

TEST(TracedItems, NothingToRunIsWrongUsage) {
  const TestFolder folder;
  EXPECT_EQ(traced_items({}, {}, "").error().code, ErrorCode::kUsage);
  EXPECT_EQ(traced_items({}, {folder.file("no_such.py")}, "").error().code, ErrorCode::kUsage);
  EXPECT_EQ(traced_items({}, {}, folder.write("list", "# nothing\n")).error().code, ErrorCode::kUsage);
  EXPECT_FALSE(traced_items({}, {}, folder.file("no_such_list")));
}

// The package that the program gets in front of its path; a shell needs nothing of it.
class Package {
 public:
  explicit Package(const TestFolder& folder) {
    folder.write("python/opwright/_capture.abi3.so", "");
    folder.write("python/bootstrap/sitecustomize.py", "");
    ::setenv("OPWRIGHT_PYTHON", folder.file("python").c_str(), 1);
  }
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;
  ~Package() { ::unsetenv("OPWRIGHT_PYTHON"); }
};

TEST(RunTraced, TheProgramsEndIsTheOutcomeAndTheWatcherHearsIt) {
  const TestFolder folder;
  const Package package(folder);
  TraceRequest request;
  request.folder = folder.file("traces");
  Words told;
  const ProgramWatcher watcher{[&] { told.emplace_back("starts"); }, [&] { told.emplace_back("ended"); }};
  const std::string mark = folder.file("mark");
  const auto outcome =
      run_traced({{"/bin/sh", "-c", "echo $OPWRIGHT_TRACE > " + mark + "; exit 3"}, "shell"}, 0, request, watcher);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(told, (Words{"starts", "ended"}));
  EXPECT_EQ(outcome->ended.status, 3);
  EXPECT_EQ(outcome->ended.signal, 0);
  EXPECT_EQ(content_of(mark), outcome->folder + "\n");  // it ran where its trace goes
  EXPECT_TRUE(fs::is_directory(outcome->folder));
  EXPECT_FALSE(outcome->device_trace);
}

TEST(RunTraced, WhatCannotBeRunLeavesNothing) {
  const TestFolder folder;
  TraceRequest request;
  request.folder = folder.file("traces");
  bool started = false;
  const ProgramWatcher watcher{[&] { started = true; }, {}};
  EXPECT_FALSE(run_traced({{"./no-such-program"}, "it"}, 0, request, watcher));
  request.mock = "toaster";
  EXPECT_FALSE(run_traced({{"/bin/true"}, "it"}, 0, request, watcher));
  EXPECT_FALSE(started);
  EXPECT_EQ(folder.entries(), 0U);
}

// A program that has ended, with its trace in the folder of its run.
class FinishTraced : public testing::Test {
 protected:
  void SetUp() override {
    request_.folder = folder_.file("traces");
    request_.import.store = folder_.file("s.db");
    outcome_.folder = request_.folder + "/run";
    fs::create_directories(outcome_.folder);
  }
  void leave_trace(const char* name) const {
    fs::copy_file(fixture_path(name), outcome_.folder + "/" + fs::path(name).filename().string());
  }
  const TracedOutcome& finished(std::size_t number = 0) {
    finish_traced(number, request_, outcome_);
    return outcome_;
  }

  TestFolder folder_;
  TraceRequest request_;
  TracedOutcome outcome_;
};

TEST_F(FinishTraced, ATraceIsCountedImportedAndRemoved) {
  leave_trace("native/mlp.opwt.zst");
  const TracedOutcome& outcome = finished();
  EXPECT_EQ(outcome.not_done, Words{});
  EXPECT_GT(outcome.summary.calls, 50);
  ASSERT_TRUE(outcome.imported);
  EXPECT_TRUE(outcome.imported->written);
  EXPECT_GT(outcome.imported->added, 10);
  EXPECT_FALSE(outcome.apart);
  EXPECT_FALSE(outcome.kept);
  EXPECT_FALSE(fs::exists(request_.folder));
}

TEST_F(FinishTraced, KeptOnRequest) {
  leave_trace("native/mlp.opwt.zst");
  request_.keep = true;
  EXPECT_TRUE(finished().kept);
  EXPECT_TRUE(fs::exists(outcome_.folder + "/mlp.opwt.zst"));
}

TEST_F(FinishTraced, CallsOfTestsThatFailedKeepTheTrace) {
  leave_trace("native/tiny_llm.opwt");
  const TracedOutcome& outcome = finished();
  EXPECT_EQ(outcome.summary.failed_tests.size(), 1U);
  ASSERT_TRUE(outcome.imported);
  EXPECT_EQ(outcome.imported->left_out.at("calls of tests that did not pass"), 2);
  EXPECT_TRUE(outcome.apart);
  EXPECT_TRUE(outcome.kept);
}

TEST_F(FinishTraced, AProgramThatFailedWithoutTestsIsNotImported) {
  leave_trace("aten/decoder.opwt");
  outcome_.ended.status = 1;
  const TracedOutcome& outcome = finished();
  ASSERT_TRUE(outcome.summary.tests.empty());
  EXPECT_FALSE(outcome.imported);
  EXPECT_TRUE(outcome.apart);
  EXPECT_TRUE(outcome.kept);
  EXPECT_FALSE(fs::exists(request_.import.store));
}

TEST_F(FinishTraced, AnImportThatFailsChangesNothingOfTheProgramsEnd) {
  leave_trace("native/mlp.opwt.zst");
  request_.import.store = folder_.file("no/such/folder/s.db");
  const TracedOutcome& outcome = finished();
  ASSERT_EQ(outcome.not_done.size(), 1U);
  EXPECT_TRUE(outcome.not_done[0].starts_with("not imported: ")) << outcome.not_done[0];
  EXPECT_EQ(outcome.ended.status, 0);
  EXPECT_TRUE(outcome.kept);
}

TEST_F(FinishTraced, OtherFormatsAreWrittenBesideInABatchEachInItsFolder) {
  leave_trace("native/mlp.opwt.zst");
  request_.side_files = {.per_op = folder_.file("per_op"), .jsonl = folder_.file("ops.jsonl")};
  const TracedOutcome& outcome = finished(2);
  EXPECT_EQ(outcome.not_done, Words{});
  EXPECT_FALSE(outcome.side_files.empty());
  EXPECT_TRUE(fs::is_directory(folder_.file("per_op/2")));
  const std::string lines = content_of(folder_.file("ops.jsonl"));
  EXPECT_GT(std::count(lines.begin(), lines.end(), '\n'), 50);
}

TEST_F(FinishTraced, NoTraceIsNoTrouble) {
  const TracedOutcome& outcome = finished();
  EXPECT_EQ(outcome.not_done, Words{});
  EXPECT_FALSE(outcome.imported);
  EXPECT_FALSE(outcome.kept);
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST(OnlyTestsFailed, NeedsTestsAndTheStatusOfFailedOnes) {
  TracedOutcome outcome;
  outcome.ended.status = 1;
  EXPECT_TRUE(only_tests_failed({{"python3", "-m", "pytest", "x"}, ""}, outcome));
  EXPECT_TRUE(only_tests_failed({{"/usr/bin/pytest"}, ""}, outcome));
  EXPECT_FALSE(only_tests_failed({{"python3", "x"}, ""}, outcome));
  outcome.summary.failed_tests = {"t"};
  EXPECT_TRUE(only_tests_failed({{"python3", "x"}, ""}, outcome));
  outcome.ended.status = 2;
  EXPECT_FALSE(only_tests_failed({{"python3", "-m", "pytest", "x"}, ""}, outcome));
}

}  // namespace
}  // namespace opwright::jobs

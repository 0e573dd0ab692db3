// Runs and their results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "model/record_json.h"
#include "store/conformance/killed_process.h"
#include "store/conformance/store_under_test.h"
#include "store/test_runs.h"

namespace opwright::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ResultsLaws : public StoreLaws {
 protected:
  std::vector<CaseRecord> records(std::string_view uid) {
    std::vector<CaseRecord> all;
    const Status status = results()->for_each(uid, [&](CaseRecord&& record) -> Status {
      all.push_back(std::move(record));
      return {};
    });
    EXPECT_TRUE(status) << status.error().message;
    return all;
  }
};

TEST_P(ResultsLaws, EveryFieldComesBack) {
  {
    const auto writer = results_writer();
    ASSERT_TRUE(writer->begin(run_named("one")));
    ASSERT_TRUE(writer->add("one", full_record()));
    ASSERT_TRUE(writer->add("one", at(3)));
  }
  const auto records = this->records("one");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(to_json(records[0]), to_json(at(3)));  // in the order of the plan
  EXPECT_FALSE(records[0].pcc.has_value());
  EXPECT_EQ(to_json(records[1]), to_json(full_record()));
}

TEST_P(ResultsLaws, EveryFieldOfARunComesBack) {
  RunRecord run = run_named("one");
  run.ended = "e";
  run.host = "h";
  run.device = "d";
  run.numerics = "n";
  run.command = "c";
  run.git_commit = "g";
  run.version = "v";
  run.suite = "s";
  run.against = "a";
  run.plan = "{}";
  run.facts = "[]";
  run.seed = std::numeric_limits<std::uint64_t>::max();
  ASSERT_TRUE(results_writer()->begin(run));
  const RunRecord back = *results()->find_run("one");
  EXPECT_THAT(
      (std::vector{back.uid, back.started, back.ended, back.host, back.device, back.numerics, back.command,
                   back.git_commit, back.version, back.suite, back.against, back.plan, back.facts, back.status}),
      ElementsAre("one", run.started, "e", "h", "d", "n", "c", "g", "v", "s", "a", "{}", "[]", "running"));
  EXPECT_EQ(back.seed, run.seed);
  EXPECT_EQ(back.planned, 3);
}

TEST_P(ResultsLaws, NumbersThatAreNoneAreNotTheSameAsNotJudged) {
  CaseRecord record = at(0);
  record.pcc = std::nan("");
  record.ulp = std::numeric_limits<double>::infinity();
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  ASSERT_TRUE(writer->add("one", record));
  const CaseRecord back = records("one").at(0);
  EXPECT_TRUE(std::isnan(back.pcc.value()));
  EXPECT_TRUE(std::isinf(back.ulp.value()));
  EXPECT_FALSE(back.nrmse.has_value());
}

TEST_P(ResultsLaws, OfTwoResultsOfOneCaseTheLaterStays) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  ASSERT_TRUE(writer->begin(run_named("two")));
  CaseRecord failed = at(0);
  failed.outcome = Outcome::kFailed;
  ASSERT_TRUE(writer->add("one", failed));
  ASSERT_TRUE(writer->add("two", failed));
  ASSERT_TRUE(writer->add("one", at(0)));
  EXPECT_EQ(records("one").at(0).outcome, Outcome::kPassed);
  EXPECT_EQ(records("one").size(), 1u);
  EXPECT_EQ(records("two").at(0).outcome, Outcome::kFailed);  // another run is another matter
}

TEST_P(ResultsLaws, ARunEndsAndIsTakenUpAgain) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  ASSERT_TRUE(writer->end("one", "interrupted", "later"));
  EXPECT_EQ(results()->find_run("one")->status, "interrupted");
  EXPECT_EQ(results()->find_run("one")->ended, "later");
  ASSERT_TRUE(writer->resume("one"));
  EXPECT_EQ(results()->find_run("one")->status, "running");
  EXPECT_EQ(results()->find_run("one")->ended, "");
  const Status twice = writer->begin(run_named("one"));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("--resume"));
  EXPECT_EQ(writer->add("nobody", at(0)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(writer->resume("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(writer->add("one", at(0)));  // an error leaves the writer usable
}

TEST_P(ResultsLaws, DoneNamesWhatHasAResult) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  for (const std::int64_t index : {5, 0, 2}) ASSERT_TRUE(writer->add("one", at(index)));
  EXPECT_THAT(*results()->done("one"), ElementsAre(0, 2, 5));
  EXPECT_EQ(results()->done("nobody").error().code, ErrorCode::kNotFound);
  CaseRecord failed = at(9);
  failed.outcome = Outcome::kFailed;
  ASSERT_TRUE(writer->add("one", failed));
  const std::map<Outcome, std::int64_t> expected{{Outcome::kPassed, 3}, {Outcome::kFailed, 1}};
  EXPECT_EQ(*results()->outcomes("one"), expected);
}

TEST_P(ResultsLaws, RunsAreFoundByNameBeginningAndAge) {
  const auto writer = results_writer();
  EXPECT_THAT(results()->find_run("last").error().message, HasSubstr("no runs yet"));
  ASSERT_TRUE(writer->begin(run_named("20261115T200000-aaaa", "2026-11-15T20:00:00Z")));
  ASSERT_TRUE(writer->begin(run_named("20261115T210000-bbbb", "2026-11-15T21:00:00Z")));
  ASSERT_TRUE(writer->begin(run_named("20261114T000000-cccc", "2026-11-14T00:00:00Z")));  // brought in later
  const auto reader = results();
  EXPECT_EQ(reader->find_run("last")->uid, "20261115T210000-bbbb");
  EXPECT_EQ(reader->find_run("last~1")->uid, "20261115T200000-aaaa");
  EXPECT_EQ(reader->find_run("last~2")->uid, "20261114T000000-cccc");
  EXPECT_EQ(reader->find_run("last~3").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(reader->find_run("last~x").error().code, ErrorCode::kUsage);
  EXPECT_EQ(reader->find_run("last~").error().code, ErrorCode::kUsage);
  EXPECT_EQ(reader->find_run("20261114")->uid, "20261114T000000-cccc");
  EXPECT_THAT(reader->find_run("20261115").error().message, HasSubstr("aaaa, 20261115T210000-bbbb"));
  EXPECT_THAT(reader->find_run("20261115T210000-bbbc").error().message,
              HasSubstr("did you mean '20261115T210000-bbbb'"));
  EXPECT_EQ(reader->find_run("").error().code, ErrorCode::kUsage);
}

TEST_P(ResultsLaws, AStopOfTheReaderIsItsError) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->add("one", at(i)));
  int seen = 0;
  const Status status = results()->for_each(
      "one", [&](CaseRecord&&) -> Status { return ++seen == 2 ? Status(fail(ErrorCode::kIo, "enough")) : Status(); });
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(results()->for_each("nobody", {}).error().code, ErrorCode::kNotFound);
}

TEST_P(ResultsLaws, TwoWritersTakeTurns) {
  constexpr int kEach = 200;
  const auto write = [&](const std::string& uid) {
    const auto writer = results_writer();
    ASSERT_TRUE(writer->begin(run_named(uid)));
    for (int i = 0; i < kEach; ++i) ASSERT_TRUE(writer->add(uid, at(i)));
  };
  std::thread other([&] { write("two"); });
  write("one");
  other.join();
  EXPECT_EQ(results()->done("one")->size(), std::size_t{kEach});
  EXPECT_EQ(results()->done("two")->size(), std::size_t{kEach});
}

// A process that adds results and says each one that add() acknowledged, killed without a warning.
TEST_P(ResultsLaws, WhatWasAcknowledgedSurvivesAKill) {
  for (const int kill_after : {1, 57, 400}) {
    start_anew();
    std::unique_ptr<ResultsWriter> writer;
    const std::int64_t last = last_before_kill(kill_after, [&](std::int64_t i, const Acknowledge& acknowledge) {
      if (!writer) {
        auto opened = store()->results_writer(5000);
        if (!opened || !(*opened)->begin(run_named("one"))) return false;
        writer = *std::move(opened);
      }
      CaseRecord record = full_record();
      record.index = i;
      if (!writer->add("one", record)) return false;
      acknowledge();
      return true;
    });
    const auto done = *results()->done("one");
    ASSERT_GE(static_cast<std::int64_t>(done.size()), last + 1);  // one more may be written and not yet said
    ASSERT_LE(static_cast<std::int64_t>(done.size()), last + 2);
    for (std::size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(records("one").size(), done.size());
    EXPECT_EQ(results()->find_run("one")->status, "running");  // nobody could say that it ended
    const auto again = results_writer();
    EXPECT_TRUE(again->resume("one"));
    EXPECT_TRUE(again->add("one", at(last + 10)));
  }
}

TEST_P(ResultsLaws, AnImportThatFailsDoesNotTakeARunAway) {
  const auto writer = results_writer();
  ASSERT_TRUE(writer->begin(run_named("one")));
  {
    const auto import = begin();
  }  // discarded
  EXPECT_EQ(results()->runs()->size(), 1u);
}

TEST_P(ResultsLaws, AStoreThatWasTakenAwayIsMadeAgain) {
  std::unique_ptr<Writer> import = begin();  // makes the file …
  const auto writer = results_writer();
  import.reset();  // … and takes it away
  ASSERT_TRUE(writer->begin(run_named("one")));
  ASSERT_TRUE(writer->add("one", at(0)));
  EXPECT_EQ(records("one").size(), 1u);
}

OPWRIGHT_FOR_ALL_STORES(ResultsLaws);

}  // namespace
}  // namespace opwright::store

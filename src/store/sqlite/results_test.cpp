#include "store/sqlite/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include "base/test_folder.h"
#include "model/record_json.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"

namespace opwright::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RunRecord run_named(const std::string& uid, const std::string& started = "2026-11-15T20:00:00Z") {
  RunRecord run;
  run.uid = uid;
  run.started = started;
  run.status = "running";
  run.planned = 3;
  return run;
}

// Every field has a value of its own, so that two swapped columns are seen.
CaseRecord full_record() {
  CaseRecord r;
  r.index = 7;
  r.vector = "v1";
  r.key = "abcd";
  r.config_hash = "59555cf6";
  r.op = "ttnn.add";
  r.suite = "model_traced";
  r.line = "ttnn.add(a='x')\n\"é\"";
  r.repeat = "opwright run --case …";
  r.dtype = "BFLOAT16";
  r.layout = "TILE";
  r.memory = "DRAM INTERLEAVED";
  r.models = "bert,resnet";
  r.calls = 11;
  r.elements = 12;
  r.recipe = {Distribution::kIntegers, std::numeric_limits<std::uint64_t>::max()};
  r.outcome = Outcome::kTimedOut;
  r.reason = "too slow";
  r.argument = "dim";
  r.blame = Blame::kStateLeak;
  r.evidence = "passes alone";
  r.notes = "assumed";
  r.attempts = 4;
  r.pcc = 0.1 + 0.2;
  r.ulp = 1.5;
  r.nrmse = 1e-300;
  r.bound_used = 0.25;
  r.judged = 13;
  r.verdicts = "[{}]";
  r.outputs = "[[]]";
  r.fields = 20;
  r.fields_equal = 19;
  r.differences = "x: 1 -> 2";
  r.faults = 6;
  r.faults_noticed = 5;
  r.unnoticed = "swap";
  r.against = "accepted";
  r.disagreement = "here so, there so";
  r.started = "2026-11-15T20:00:01.123Z";
  r.wall_seconds = 1.25;
  r.device_seconds = 1.0 / 3;
  r.cold_seconds = 2.5;
  r.kernel_seconds = 1e-6;
  r.reference_seconds = 0.75;
  r.l1_per_core = 31;
  r.dram = std::int64_t{1} << 40;
  r.host_bytes = 33;
  return r;
}

CaseRecord at(std::int64_t index) {
  CaseRecord record;
  record.index = index;
  record.op = "ttnn.add";
  record.outcome = Outcome::kPassed;
  return record;
}

ResultsWriter writer_of(const std::string& path) {
  auto writer = ResultsWriter::open(path, 5000);
  EXPECT_TRUE(writer) << writer.error().message;
  return *std::move(writer);
}
ResultsReader reader_of(const std::string& path) {
  auto reader = ResultsReader::open(path, 5000);
  EXPECT_TRUE(reader) << reader.error().message;
  return *std::move(reader);
}
std::vector<CaseRecord> records_of(const std::string& path, std::string_view uid) {
  std::vector<CaseRecord> records;
  const Status status = reader_of(path).for_each(uid, [&](CaseRecord&& record) -> Status {
    records.push_back(std::move(record));
    return {};
  });
  EXPECT_TRUE(status) << status.error().message;
  return records;
}

TEST(Results, EveryFieldComesBack) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  {
    ResultsWriter writer = writer_of(path);
    ASSERT_TRUE(writer.begin(run_named("one")));
    ASSERT_TRUE(writer.add("one", full_record()));
    ASSERT_TRUE(writer.add("one", at(3)));
  }
  const auto records = records_of(path, "one");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(to_json(records[0]), to_json(at(3)));  // in the order of the plan
  EXPECT_FALSE(records[0].pcc.has_value());
  EXPECT_EQ(to_json(records[1]), to_json(full_record()));
}

TEST(Results, EveryFieldOfARunComesBack) {
  const TestFolder folder;
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
  ASSERT_TRUE(writer_of(folder.file("s.db")).begin(run));
  const RunRecord back = *reader_of(folder.file("s.db")).find_run("one");
  EXPECT_THAT(
      (std::vector{back.uid, back.started, back.ended, back.host, back.device, back.numerics, back.command,
                   back.git_commit, back.version, back.suite, back.against, back.plan, back.facts, back.status}),
      ElementsAre("one", run.started, "e", "h", "d", "n", "c", "g", "v", "s", "a", "{}", "[]", "running"));
  EXPECT_EQ(back.seed, run.seed);
  EXPECT_EQ(back.planned, 3);
}

TEST(Results, NumbersThatAreNoneAreNotTheSameAsNotJudged) {
  const TestFolder folder;
  CaseRecord record = at(0);
  record.pcc = std::nan("");
  record.ulp = std::numeric_limits<double>::infinity();
  ResultsWriter writer = writer_of(folder.file("s.db"));
  ASSERT_TRUE(writer.begin(run_named("one")));
  ASSERT_TRUE(writer.add("one", record));
  const CaseRecord back = records_of(folder.file("s.db"), "one").at(0);
  EXPECT_TRUE(std::isnan(back.pcc.value()));
  EXPECT_TRUE(std::isinf(back.ulp.value()));
  EXPECT_FALSE(back.nrmse.has_value());
}

TEST(Results, OfTwoResultsOfOneCaseTheLaterStays) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  ASSERT_TRUE(writer.begin(run_named("one")));
  ASSERT_TRUE(writer.begin(run_named("two")));
  CaseRecord failed = at(0);
  failed.outcome = Outcome::kFailed;
  ASSERT_TRUE(writer.add("one", failed));
  ASSERT_TRUE(writer.add("two", failed));
  ASSERT_TRUE(writer.add("one", at(0)));
  EXPECT_EQ(records_of(path, "one").at(0).outcome, Outcome::kPassed);
  EXPECT_EQ(records_of(path, "one").size(), 1u);
  EXPECT_EQ(records_of(path, "two").at(0).outcome, Outcome::kFailed);  // another run is another matter
}

TEST(Results, ARunEndsAndIsTakenUpAgain) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  ASSERT_TRUE(writer.begin(run_named("one")));
  ASSERT_TRUE(writer.end("one", "interrupted", "later"));
  EXPECT_EQ(reader_of(path).find_run("one")->status, "interrupted");
  EXPECT_EQ(reader_of(path).find_run("one")->ended, "later");
  ASSERT_TRUE(writer.resume("one"));
  EXPECT_EQ(reader_of(path).find_run("one")->status, "running");
  EXPECT_EQ(reader_of(path).find_run("one")->ended, "");
  const Status twice = writer.begin(run_named("one"));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("--resume"));
  EXPECT_EQ(writer.add("nobody", at(0)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(writer.resume("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(writer.add("one", at(0)));  // an error leaves the writer usable
}

TEST(Results, DoneNamesWhatHasAResult) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  ASSERT_TRUE(writer.begin(run_named("one")));
  for (const std::int64_t index : {5, 0, 2}) ASSERT_TRUE(writer.add("one", at(index)));
  EXPECT_THAT(*reader_of(path).done("one"), ElementsAre(0, 2, 5));
  EXPECT_EQ(reader_of(path).done("nobody").error().code, ErrorCode::kNotFound);
  CaseRecord failed = at(9);
  failed.outcome = Outcome::kFailed;
  ASSERT_TRUE(writer.add("one", failed));
  const std::map<Outcome, std::int64_t> expected{{Outcome::kPassed, 3}, {Outcome::kFailed, 1}};
  EXPECT_EQ(*reader_of(path).outcomes("one"), expected);
}

TEST(Results, RunsAreFoundByNameBeginningAndAge) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  EXPECT_THAT(reader_of(path).find_run("last").error().message, HasSubstr("no runs yet"));
  ASSERT_TRUE(writer.begin(run_named("20261115T200000-aaaa", "2026-11-15T20:00:00Z")));
  ASSERT_TRUE(writer.begin(run_named("20261115T210000-bbbb", "2026-11-15T21:00:00Z")));
  ASSERT_TRUE(writer.begin(run_named("20261114T000000-cccc", "2026-11-14T00:00:00Z")));  // brought in later
  ResultsReader reader = reader_of(path);
  EXPECT_EQ(reader.find_run("last")->uid, "20261115T210000-bbbb");
  EXPECT_EQ(reader.find_run("last~1")->uid, "20261115T200000-aaaa");
  EXPECT_EQ(reader.find_run("last~2")->uid, "20261114T000000-cccc");
  EXPECT_EQ(reader.find_run("last~3").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(reader.find_run("last~x").error().code, ErrorCode::kUsage);
  EXPECT_EQ(reader.find_run("last~").error().code, ErrorCode::kUsage);
  EXPECT_EQ(reader.find_run("20261114")->uid, "20261114T000000-cccc");
  EXPECT_THAT(reader.find_run("20261115").error().message, HasSubstr("aaaa, 20261115T210000-bbbb"));
  EXPECT_THAT(reader.find_run("20261115T210000-bbbc").error().message,
              HasSubstr("did you mean '20261115T210000-bbbb'"));
  EXPECT_EQ(reader.find_run("").error().code, ErrorCode::kUsage);
}

TEST(Results, AStopOfTheReaderIsItsError) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  ASSERT_TRUE(writer.begin(run_named("one")));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.add("one", at(i)));
  int seen = 0;
  const Status status = reader_of(path).for_each(
      "one", [&](CaseRecord&&) -> Status { return ++seen == 2 ? Status(fail(ErrorCode::kIo, "enough")) : Status(); });
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(reader_of(path).for_each("nobody", {}).error().code, ErrorCode::kNotFound);
}

TEST(Results, AnUnknownWordIsAnErrorNotADefault) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(path);
  ASSERT_TRUE(writer.begin(run_named("one")));
  ASSERT_TRUE(writer.add("one", at(0)));
  auto database = Database::open(path, Database::Mode::kWrite, 100);
  ASSERT_TRUE(database->execute("UPDATE result SET outcome = 'wonderful'"));
  seal_again(path);
  const Status status = reader_of(path).for_each("one", [](CaseRecord&&) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("wonderful"));
}

TEST(Results, TwoWritersTakeTurns) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  constexpr int kEach = 200;
  const auto write = [&](const std::string& uid) {
    ResultsWriter writer = writer_of(path);
    ASSERT_TRUE(writer.begin(run_named(uid)));
    for (int i = 0; i < kEach; ++i) ASSERT_TRUE(writer.add(uid, at(i)));
  };
  std::thread other([&] { write("two"); });
  write("one");
  other.join();
  EXPECT_EQ(reader_of(path).done("one")->size(), std::size_t{kEach});
  EXPECT_EQ(reader_of(path).done("two")->size(), std::size_t{kEach});
}

// A process that adds results and says each one that add() acknowledged, killed without a warning.
TEST(Results, WhatWasAcknowledgedSurvivesAKill) {
  for (const int kill_after : {1, 57, 400}) {
    const TestFolder folder;
    const std::string path = folder.file("s.db");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      auto writer = ResultsWriter::open(path, 5000);
      if (!writer || !writer->begin(run_named("one"))) _exit(1);
      for (std::int64_t i = 0;; ++i) {
        CaseRecord record = full_record();
        record.index = i;
        if (!writer->add("one", record)) _exit(2);
        if (write(ends[1], &i, sizeof i) != sizeof i) _exit(3);
      }
    }
    close(ends[1]);
    std::int64_t last = -1;
    for (int seen = 0; seen < kill_after && read(ends[0], &last, sizeof last) == sizeof last;) ++seen;
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    while (read(ends[0], &last, sizeof last) == sizeof last) {  // acknowledged, but not yet read when it died
    }
    close(ends[0]);
    const auto done = *reader_of(path).done("one");
    ASSERT_GE(static_cast<std::int64_t>(done.size()), last + 1);  // one more may be written and not yet said
    ASSERT_LE(static_cast<std::int64_t>(done.size()), last + 2);
    for (std::size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(records_of(path, "one").size(), done.size());
    EXPECT_EQ(reader_of(path).find_run("one")->status, "running");  // nobody could say that it ended
    ResultsWriter again = writer_of(path);
    EXPECT_TRUE(again.resume("one"));
    EXPECT_TRUE(again.add("one", at(last + 10)));
  }
}

TEST(Results, OfAnOlderStoreAreReadAsTheyLieAndKept) {
  const TestFolder folder;
  const std::string path = folder.write("v3.db", fixture("stores/v3.db"));
  const std::string bytes = content_of(path);
  const auto told = [&] {
    std::string text;
    EXPECT_TRUE(reader_of(path).for_each(reader_of(path).find_run("last")->uid, [&](CaseRecord&& record) {
      text += to_json(record);
      return Status();
    }));
    return text;
  };
  const std::string before = told();
  EXPECT_THAT(before, HasSubstr("\"outcome\": \"passed\""));
  EXPECT_EQ(content_of(path), bytes);
  ASSERT_TRUE(writer_of(path).begin(run_named("before", "2020-01-01T00:00:00Z")));
  EXPECT_EQ(open_reader(path).totals()->schema, kSchemaVersion);
  EXPECT_EQ(reader_of(path).runs()->size(), 2u);
  EXPECT_EQ(told(), before);
}

TEST(Results, AnOlderStoreHasNoRunsUntilOneIsWritten) {
  const TestFolder folder;
  for (const int version : {1, 2}) {
    const std::string name = "v" + std::to_string(version) + ".db";
    const std::string path = folder.write(name, fixture("stores/" + name));
    const std::string bytes = content_of(path);
    {
      ResultsReader reader = reader_of(path);
      EXPECT_TRUE(reader.runs()->empty());
      EXPECT_THAT(reader.find_run("last").error().message, HasSubstr("no runs yet"));
    }
    EXPECT_EQ(content_of(path), bytes);
    const std::int64_t configurations = open_reader(path).totals()->configurations;
    ASSERT_TRUE(writer_of(path).begin(run_named("one")));
    EXPECT_EQ(reader_of(path).runs()->size(), 1u);
    EXPECT_EQ(open_reader(path).totals()->configurations, configurations);
    EXPECT_EQ(open_reader(path).totals()->schema, kSchemaVersion);
  }
}

TEST(Results, AnImportThatFailsDoesNotTakeARunAway) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ResultsWriter writer = writer_of(folder.file("s.db"));
  ASSERT_TRUE(writer.begin(run_named("one")));
  {
    Writer import = begin(path);
  }  // discarded
  EXPECT_EQ(reader_of(path).runs()->size(), 1u);
}

TEST(Results, AStoreThatWasTakenAwayIsMadeAgain) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  std::optional<Writer> import = begin(path);  // makes the file …
  ResultsWriter writer = writer_of(path);
  import.reset();  // … and takes it away
  ASSERT_TRUE(writer.begin(run_named("one")));
  ASSERT_TRUE(writer.add("one", at(0)));
  EXPECT_EQ(records_of(path, "one").size(), 1u);
}

TEST(Results, AMissingStoreIsNamed) {
  const auto missing = ResultsReader::open("/nowhere/s.db", 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/s.db"));
}

}  // namespace
}  // namespace opwright::store

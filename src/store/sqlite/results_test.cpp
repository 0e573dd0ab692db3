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
#include "store/test_runs.h"

namespace opwright::store::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

// The last column is younger than the checksums: an empty one is not covered, a filled one is.
TEST(Results, TimesAreKeptAndCovered) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  CaseRecord timed = at(0);
  timed.perf = R"({"clock": "modelled"})";
  {
    ResultsWriter writer = writer_of(path);
    ASSERT_TRUE(writer.begin(run_named("one")));
    ASSERT_TRUE(writer.add("one", timed));
    ASSERT_TRUE(writer.add("one", at(1)));
  }
  std::vector<std::string> found;
  const auto read = [&] {
    return reader_of(path).for_each("one", [&](CaseRecord&& record) -> Status {
      found.push_back(record.perf);
      return {};
    });
  };
  ASSERT_TRUE(read());
  EXPECT_THAT(found, ElementsAre(timed.perf, ""));
  for (const char* damage :
       {"UPDATE result SET perf = '' WHERE place = 0", "UPDATE result SET perf = 'x' WHERE place = 1"}) {
    auto database = Database::open(path, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("BEGIN"));
    ASSERT_TRUE(database->execute(damage));
    ASSERT_TRUE(database->execute("COMMIT"));
    const Status status = read();
    ASSERT_FALSE(status) << damage;
    EXPECT_THAT(status.error().message, HasSubstr("checksum"));
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

TEST(Results, AMissingStoreIsNamed) {
  const auto missing = ResultsReader::open("/nowhere/s.db", 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/s.db"));
}

}  // namespace
}  // namespace opwright::store::sqlite

// The power fails at every moment of an import and of a run, with every luck: the store opens, is whole, has what was
// promised, and nothing by halves.
#include <gtest/gtest.h>

#include <set>

#include "store/sqlite/results.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_disk.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

constexpr int kImported = 6;  // configurations an import
constexpr int kResults = 24;

// What was promised when, by the number of disk operations there had been.
struct Promise {
  std::size_t operations;
  int imports, runs, results;
  bool ended;
};

struct Story {
  Durability import, run;
};

class Witness {
 public:
  Witness(TestDisk& disk, const TestFolder& folder) : disk_(disk), path_(folder.file("s.db")) {}

  void import(Durability durability) {
    auto writer = Writer::begin(path_, 100, kIdentity, durability);
    ASSERT_TRUE(writer) << writer.error().message;
    Batch batch;
    const std::string name = "import" + std::to_string(made_.imports);
    for (int i = 0; i < kImported; ++i) {
      add_call(batch, *writer, name + "." + std::to_string(i));
      batch.postings.push_back({1, batch.configurations.back().id});
    }
    const std::int64_t first = batch.forms.front().id.value;
    ASSERT_TRUE(writer->write(batch));
    const auto trace = writer->trace({name, "master", "{}"});
    std::vector<NewOccurrence> occurrences;
    for (int i = 0; i < kImported; ++i) occurrences.push_back({{first + i}, {0}, {0}, *trace, "", "", 1, "", 0});
    ASSERT_TRUE(writer->add_occurrences(occurrences));
    ASSERT_TRUE(writer->commit());
    ++made_.imports;
    if (durability != Durability::kConsistent) promise();
  }

  void run(Durability durability) {
    auto writer = ResultsWriter::open(path_, 100, durability);
    ASSERT_TRUE(writer) << writer.error().message;
    RunRecord run;
    run.uid = "r";
    run.status = "running";
    ASSERT_TRUE(writer->begin(run));
    ++made_.runs;
    if (durability != Durability::kConsistent) promise();
    for (int i = 0; i < kResults; ++i) {
      CaseRecord record;
      record.index = i;
      record.outcome = Outcome::kPassed;
      record.line = std::string(500, 'x');
      ASSERT_TRUE(writer->add("r", record));
      ++made_.results;
      if (durability == Durability::kEveryCommit) promise();
    }
    ASSERT_TRUE(writer->end("r", "complete", "now"));
    made_.ended = true;
    if (durability != Durability::kConsistent) promise();
  }

  Promise promised_at(std::size_t operations) const {
    Promise last{};
    for (const Promise& one : promises_)
      if (one.operations <= operations) last = one;
    return last;
  }

 private:
  void promise() {
    made_.operations = disk_.operations().size();
    promises_.push_back(made_);
  }
  TestDisk& disk_;
  std::string path_;
  Promise made_{};
  std::vector<Promise> promises_;
};

// What is wrong with the store that a failure left; "" nothing.
std::string verdict(const std::map<std::string, std::string>& files, const Promise& promised, bool write_again) {
  const TestFolder folder;
  for (const auto& [name, content] : files) folder.write(name, content);
  const std::string path = folder.file("s.db");
  const bool promised_anything = promised.imports + promised.runs > 0;
  auto reader = Reader::open(path, 100, kIdentity);
  if (!reader) {
    if (!promised_anything && reader.error().code == ErrorCode::kNotFound) return "";  // no store yet
    return "does not open: " + reader.error().message;
  }
  const auto inspection = inspect(path, 100, Depth::kEverything);
  if (!inspection) return "cannot be inspected: " + inspection.error().message;
  if (inspection->damages > 0) return "damaged: " + inspection->listed.front();
  const auto traces = reader->traces();
  const auto all = reader->candidates({}), listed = reader->candidates(with_terms({1}));
  if (!traces || !all || !listed) return "does not answer";
  if (all->size() != traces->size() * kImported || listed->size() != all->size()) return "half an import";
  if (static_cast<int>(traces->size()) < promised.imports) return "a promised import is gone";
  for (std::size_t i = 0; i < traces->size(); ++i)
    if ((*traces)[i].uid != "import" + std::to_string(i)) return "an import is there, but not the one before it";
  auto results = ResultsReader::open(path, 100);
  if (!results) return "results do not open: " + results.error().message;
  const auto runs = results->runs();
  if (!runs) return "runs: " + runs.error().message;
  if (static_cast<int>(runs->size()) < promised.runs) return "a promised run is gone";
  if (runs->empty()) return "";
  const auto done = results->done("r");
  if (!done) return "results: " + done.error().message;
  if (static_cast<int>(done->size()) < promised.results) return "a promised result is gone";
  for (std::size_t i = 0; i < done->size(); ++i)
    if ((*done)[i] != static_cast<std::int64_t>(i)) return "a result is there, but not the one before it";
  if (promised.ended && runs->front().status != "complete") return "the end of the run is gone";
  if (!write_again) return "";
  auto writer = ResultsWriter::open(path, 100, Durability::kConsistent);
  if (!writer) return "cannot be continued: " + writer.error().message;
  if (const Status resumed = writer->resume("r"); !resumed) return "cannot be resumed: " + resumed.error().message;
  return "";
}

// Pulls the plug at `points` moments. Says how often something was wrong, and the first of it.
std::pair<int, std::string> pull_the_plug(const Story& story, int points, bool syncs_are_kept = true) {
  const TestFolder folder;
  std::vector<std::tuple<std::size_t, TestDisk::Luck, Promise>> moments;
  std::vector<std::map<std::string, std::string>> left;
  {
    TestDisk disk;
    Witness witness(disk, folder);
    witness.import(story.import);
    witness.import(story.import);
    witness.run(story.run);
    witness.import(story.import);
    const std::size_t operations = disk.operations().size();
    EXPECT_GT(operations, 100u);
    constexpr std::array kLucks{0.0, 1.0, 0.5, 0.9, 0.1};
    for (int point = 0; point < points; ++point) {
      const std::size_t at = 1 + static_cast<std::size_t>(point) * (operations - 1) / static_cast<std::size_t>(points);
      const TestDisk::Luck luck{static_cast<std::uint32_t>(point),
                                kLucks[static_cast<std::size_t>(point) % kLucks.size()], point % 2 == 0 ? 512u : 4096u,
                                syncs_are_kept};
      moments.emplace_back(at, luck, witness.promised_at(at));
      left.push_back(disk.after_power_failure(at, luck));
    }
  }
  int wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const std::string said = verdict(left[i], std::get<2>(moments[i]), i % 8 == 0);
    if (said.empty()) continue;
    if (wrong++ == 0)
      first = "after operation " + std::to_string(std::get<0>(moments[i])) + ", seed " +
              std::to_string(std::get<1>(moments[i]).seed) + ": " + said;
  }
  return {wrong, first};
}

TEST(PowerLoss, DurableKeepsEveryImportAndEveryResult) {
  const auto [wrong, first] = pull_the_plug({Durability::kEveryCommit, Durability::kEveryCommit}, 600);
  EXPECT_EQ(wrong, 0) << first;
}

TEST(PowerLoss, TheDefaultKeepsRunsThatEndedAndTheStoreWhole) {
  const auto [wrong, first] = pull_the_plug({Durability::kConsistent, Durability::kSoon}, 600);
  EXPECT_EQ(wrong, 0) << first;
}

// The test would notice: with a disk that forgets what it was told to keep, promises are broken.
TEST(PowerLoss, ADiskThatLiesIsNoticed) {
  const auto [wrong, first] = pull_the_plug({Durability::kEveryCommit, Durability::kEveryCommit}, 100, false);
  EXPECT_GT(wrong, 10);
}

}  // namespace
}  // namespace opwright::store::sqlite

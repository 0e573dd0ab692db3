// Damage of every kind, one at a time, against every question: the answer is the one of the sound store, or an error;
// never another one. And whatever makes an answer fail is found by an inspection.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "store/sqlite/lookup.h"
#include "store/sqlite/results.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

constexpr std::uint64_t kLowKind = 77, kHighKind = 0xf00000000000004du;
constexpr int kConfigurations = 150;
constexpr std::size_t kPage = 1024;  // small, so that there are many

using Answers = std::map<std::string, Result<std::string>>;

std::string text_of(const std::vector<ConfigId>& ids) {
  std::string text;
  for (const ConfigId id : ids) text += std::to_string(id.value) + " ";
  return text;
}

template <class T, class Show>
Result<std::string> shown(const Result<T>& answer, const Show& show) {
  if (!answer) return fail(answer.error());
  return show(*answer);
}

void ask_reader(Reader& reader, Answers& answers) {
  answers["operations"] = shown(reader.operations(), [](const auto& rows) {
    std::string text;
    for (const OperationRow& row : rows)
      text += row.name + " " + std::to_string(row.configurations) + " " + std::to_string(row.calls) + " " +
              std::to_string(row.uncounted) + " " + std::to_string(row.sources) + " " + std::to_string(row.raised) +
              "\n";
    return text;
  });
  answers["totals"] = shown(reader.totals(), [](const Totals& t) {
    return std::to_string(t.operations) + " " + std::to_string(t.configurations) + " " + std::to_string(t.forms) + " " +
           std::to_string(t.sources) + " " + std::to_string(t.machines) + " " + std::to_string(t.traces);
  });
  answers["names"] = shown(reader.operation_names(), [](const auto& names) {
    std::string text;
    for (const std::string& name : names) text += name + " ";
    return text;
  });
  answers["traces"] = shown(reader.traces(), [](const auto& rows) {
    std::string text;
    for (const TraceRow& row : rows) text += row.uid + " " + row.format + " " + row.facts + "\n";
    return text;
  });
  answers["all"] = shown(reader.candidates({}), text_of);
  for (const std::uint64_t term : {1ull, 2ull, 3ull, 1ull << 63, ~0ull})
    answers["term " + std::to_string(term)] = shown(reader.candidates(with_terms({term})), text_of);
  for (const std::uint64_t kind : {kLowKind, kHighKind, kSourceFact, kMachineFact}) {
    for (const std::int64_t value : {1, 2, 49})
      answers["fact " + std::to_string(kind) + " " + std::to_string(value)] =
          shown(reader.candidates(std::vector<Way>{{{}, {{{}, {{kind, value, value}}}}}}), text_of);
    answers["facts " + std::to_string(kind)] =
        shown(reader.candidates(std::vector<Way>{{{}, {{{}, {{kind, 0, 30}}}}}}), text_of);
    answers["words " + std::to_string(kind)] =
        shown(reader.words(std::vector<std::uint64_t>{kind}), [](const auto& words) {
          std::string text;
          for (const Word& word : words) text += std::to_string(word.value) + word.text + "\n";
          return text;
        });
  }
  for (const int i : {0, 7, 77, kConfigurations - 1})
    answers["key " + std::to_string(i)] = shown(reader.with_key(to_hex(key(std::to_string(i))).substr(0, 12)), text_of);
}

// One Reader a question, as one command asks: what another question verified must not help.
Result<std::string> forms_of(const std::string& path, std::int64_t id) {
  OPWRIGHT_TRY_ASSIGN(Reader reader, Reader::open(path, 100));
  OPWRIGHT_TRY_ASSIGN(const auto forms, reader.forms(ConfigId{id}));
  OPWRIGHT_TRY_ASSIGN(const auto occurrences, reader.occurrences(forms));
  std::string text;
  for (const FormRow& form : forms)
    text += form.op + form.text + form.error + std::to_string(static_cast<int>(form.kind));
  for (const OccurrenceRow& row : occurrences)
    text += row.source + row.model + row.hf_model + row.machine + row.machine_label + row.trace_uid +
            row.sweep_source_hash + row.config_hash + row.extra + std::to_string(row.count) + " " +
            std::to_string(row.raised) + "\n";
  return text;
}

Result<std::string> card_of(const std::string& path, std::int64_t id) {
  OPWRIGHT_TRY_ASSIGN(Reader reader, Reader::open(path, 100));
  std::string text;
  OPWRIGHT_TRY(reader.cards(std::vector<ConfigId>{{id}}, true, [&](const Card& card) {
    text += std::string(card.op) + to_hex(card.key) + std::to_string(static_cast<int>(card.convention));
    for (const Seen& seen : card.seen)
      text += " " + std::to_string(seen.form.value) + " " + std::to_string(seen.source.value) + " " +
              std::to_string(seen.trace.value) + " " + std::to_string(seen.count) + " " + std::to_string(seen.raised);
    for (const std::uint32_t place : card.parts) text += " " + std::string(card.table[place]);
    return Status();
  }));
  return text;
}

Result<std::string> results_of(const std::string& path, const std::string& uid) {
  OPWRIGHT_TRY_ASSIGN(ResultsReader reader, ResultsReader::open(path, 100));
  std::string text;
  OPWRIGHT_TRY(reader.for_each(uid, [&](CaseRecord&& r) -> Status {
    text += std::to_string(r.index) + r.vector + r.key + r.op + r.line + r.reason + std::string(name_of(r.outcome)) +
            std::to_string(r.pcc.value_or(-1)) + std::to_string(r.wall_seconds) + std::to_string(r.calls) + "\n";
    return {};
  }));
  return text;
}

Result<std::string> runs_of(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(ResultsReader reader, ResultsReader::open(path, 100));
  OPWRIGHT_TRY_ASSIGN(const auto runs, reader.runs());
  std::string text;
  for (const RunRecord& run : runs) {
    text += run.uid + run.started + run.ended + run.host + run.device + run.command + run.status + run.plan +
            run.facts + std::to_string(run.planned);
    OPWRIGHT_TRY_ASSIGN(const auto outcomes, reader.outcomes(run.uid));
    for (const auto& [outcome, count] : outcomes) text += std::string(name_of(outcome)) + std::to_string(count);
    OPWRIGHT_TRY_ASSIGN(const auto done, reader.done(run.uid));
    text += " " + std::to_string(done.size()) + "\n";
  }
  return text;
}

Result<std::string> sequences_of(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(Reader reader, Reader::open(path, 100));
  OPWRIGHT_TRY_ASSIGN(const auto rows, reader.sequences());
  std::string text;
  for (const SequenceRow& row : rows) {
    OPWRIGHT_TRY_ASSIGN(const std::string bytes, reader.trace_bytes(row));
    text += row.sequence.uid + row.sequence.name + row.sequence.started + bytes + "\n";
  }
  return text;
}

Result<std::string> known_of(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(auto lookup, Lookup::open(path, 100));
  if (!lookup) return fail(ErrorCode::kNotFound, path + ": empty");
  std::string text;
  for (int i = -3; i < kConfigurations; i += 3) {
    OPWRIGHT_TRY_ASSIGN(const auto form, lookup->form(fingerprint(std::to_string(i))));
    OPWRIGHT_TRY_ASSIGN(const auto config, lookup->configuration(key(std::to_string(i))));
    text += form ? std::to_string(form->form.value) + ":" + std::to_string(form->configuration.value) + ":" +
                       std::to_string(form->unparsed) + std::to_string(form->duplicate_keys)
                 : "-";
    text += config ? " " + std::to_string(config->value) + "\n" : " -\n";
  }
  return text;
}

Answers ask(const std::string& path) {
  Answers answers;
  if (auto reader = Reader::open(path, 100, kIdentity))
    ask_reader(*reader, answers);
  else
    answers["open"] = fail(reader.error());
  for (const int id : {1, 65, kConfigurations}) answers["forms " + std::to_string(id)] = forms_of(path, id);
  for (const int id : {1, 65, kConfigurations}) answers["card " + std::to_string(id)] = card_of(path, id);
  answers["results r1"] = results_of(path, "r1");
  answers["runs"] = runs_of(path);
  answers["known"] = known_of(path);
  answers["sequences"] = sequences_of(path);
  return answers;
}

class Corruption : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder();
    const std::string path = folder_->file("sound.db");
    {
      // Pages of 1 KiB, for more of them.
      auto database = Database::open(path, Database::Mode::kWrite, 100);
      ASSERT_TRUE(database->execute("PRAGMA page_size = 1024; CREATE TABLE t(x); DROP TABLE t; VACUUM"));
    }
    import(path, 0, kConfigurations - 20, "first", 1);
    run(path, "r0", 10, 0);
    run(path, "r1", 20, 0);
    fold(path);
    older_ = content_of(path);
    import(path, kConfigurations - 20, kConfigurations, "second", 5);
    run(path, "r1", 30, 20);
    fold(path);
    sound_ = content_of(path);
    answers_ = ask(path);
    for (const auto& [question, answer] : answers_) ASSERT_TRUE(answer) << question << ": " << answer.error().message;
    ASSERT_EQ(inspect(path, 100, Depth::kEverything)->damages, 0);
    ASSERT_EQ(sound_.size() % kPage, 0u);
    ASSERT_GT(sound_.size() / kPage, 100u);
  }
  static void TearDownTestSuite() { delete folder_; }

  static void import(const std::string& path, int from, int to, const std::string& trace_uid, std::int64_t count) {
    Writer writer = begin(path);
    Batch batch;
    for (int i = from; i < to; ++i) {
      add_call(batch, writer, std::to_string(i), "ttnn.op" + std::to_string(i % 7));
      const ConfigId id = batch.configurations.back().id;
      batch.configurations.back().parts = "\x04same\x02" + std::string(1, static_cast<char>('a' + i % 26)) + "x";
      batch.postings.push_back({1, id});
      if (i % 2 == 0) batch.postings.push_back({2, id});
      if (i % 3 == 0) batch.postings.push_back({1ull << 63, id});
      const std::uint64_t kind = i % 2 == 0 ? kLowKind : kHighKind;
      batch.facts.push_back({kind, i % 50, id});
      batch.words.push_back({kind, i % 50, "word " + std::to_string(i % 50)});
    }
    const std::int64_t first = batch.forms.front().id.value;
    add_sequence(batch, trace_uid);
    add_sequence(batch, "both");
    ASSERT_TRUE(writer.write(batch));
    const auto source = writer.source({"models/a.py [" + trace_uid + "]", "models/a.py", "org/model", "model"});
    const auto machine = writer.machine({"{\"board\": \"n150\"}", "n150"});
    const auto trace = writer.trace({trace_uid, "master", "{\"a\": \"" + trace_uid + "\"}"});
    std::vector<NewOccurrence> occurrences;
    // Also of what the first import knew: their counts are raised, so that old pages lie.
    for (std::int64_t form = 1; form < first + to - from; form += form < first ? 5 : 1)
      occurrences.push_back({{form}, *source, *machine, *trace, "", "hash", count + form % 3, "{\"x\":1}", 1});
    ASSERT_TRUE(writer.add_occurrences(occurrences));
    ASSERT_TRUE(writer.add_examples(std::vector<RaisedExample>{{{first}, "RuntimeError: " + trace_uid}}));
    ASSERT_TRUE(writer.commit());
  }

  static void add_sequence(Batch& batch, const std::string& uid) {
    std::string bytes;
    for (int i = 0; i < 3000; ++i) bytes += std::to_string(i * 7919);
    Sequence sequence;
    sequence.uid = uid;
    sequence.name = "models/a.py";
    sequence.digest = sha256(bytes);
    sequence.size = sequence.content = static_cast<std::int64_t>(bytes.size());
    const auto of = std::make_shared<const Sequence>(sequence);
    batch.pieces.push_back({of, 0, bytes.substr(0, 4000), false});
    batch.pieces.push_back({of, 1, bytes.substr(4000), true});
  }

  static void run(const std::string& path, const std::string& uid, int to, int from) {
    auto writer = ResultsWriter::open(path, 100, Durability::kConsistent);
    ASSERT_TRUE(writer);
    if (from == 0) {
      RunRecord run;
      run.uid = uid;
      run.started = "2026-11-15T20:00:0" + uid.substr(1);
      run.status = "running";
      run.planned = to;
      ASSERT_TRUE(writer->begin(run));
    }
    for (int i = from; i < to; ++i) {
      CaseRecord record;
      record.index = i;
      record.vector = "v" + std::to_string(i);
      record.op = "ttnn.add";
      record.line = std::string(static_cast<std::size_t>(20 + i * 40), 'x');
      record.outcome = i % 3 == 0 ? Outcome::kFailed : Outcome::kPassed;
      record.pcc = 0.5 + i / 100.0;
      ASSERT_TRUE(writer->add(uid, record));
    }
    ASSERT_TRUE(writer->end(uid, "complete", "2026-11-15T21:00:00Z"));
  }

  // The log into the file.
  static void fold(const std::string& path) {
    auto database = Database::open(path, Database::Mode::kWrite, 100);
    ASSERT_TRUE(database->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }

  // A store with these bytes gives the answers of the sound one, or errors. Says how many questions failed.
  static int expect_no_other_answer(const std::string& bytes, const std::string& what) {
    const std::string path = folder_->file("damaged.db");
    for (const char* side : {"", "-wal", "-shm"}) std::filesystem::remove(path + side);
    folder_->write("damaged.db", bytes);
    return expect_no_other_answer_of(path, what);
  }
  static int expect_no_other_answer_of(const std::string& path, const std::string& what) {
    int failed = 0;
    for (const auto& [question, answer] : ask(path)) {
      if (!answer) {
        ++failed;
        EXPECT_NE(answer.error().message.find(path), std::string::npos) << answer.error().message;
        continue;
      }
      EXPECT_EQ(*answer, *answers_[question]) << what << ": another answer to '" << question << "'";
    }
    if (failed > 0) {
      const auto found = inspect(path, 100, Depth::kEverything);
      EXPECT_TRUE(!found || found->damages > 0) << what << ": not found by an inspection";
    }
    return failed;
  }
  static std::size_t pages() { return sound_.size() / kPage; }

  static inline TestFolder* folder_ = nullptr;
  static inline std::string older_, sound_;
  static inline Answers answers_;
};

TEST_F(Corruption, BitsOfEveryPage) {
  int noticed = 0;
  for (std::size_t page = 0; page < pages(); ++page) {
    for (const std::size_t offset : {page % 40, kPage - 1 - page * 7 % 700}) {
      std::string bytes = sound_;
      bytes[page * kPage + offset] = static_cast<char>(bytes[page * kPage + offset] ^ (1 << (page + offset) % 8));
      noticed += expect_no_other_answer(
                     bytes, "bit flipped in page " + std::to_string(page + 1) + " at " + std::to_string(offset)) > 0;
    }
  }
  EXPECT_GT(noticed, static_cast<int>(pages()));  // the test does damage what is asked for
}

TEST_F(Corruption, PagesThatAreLost) {
  for (std::size_t page = 0; page < pages(); ++page) {
    std::string zeros = sound_;
    zeros.replace(page * kPage, kPage, kPage, '\0');
    expect_no_other_answer(zeros, "page " + std::to_string(page + 1) + " zeroed");
    std::string half = sound_;
    half.replace(page * kPage + kPage / 2, kPage / 2, kPage / 2, '\xff');
    expect_no_other_answer(half, "second half of page " + std::to_string(page + 1) + " lost");
  }
}

TEST_F(Corruption, PagesInEachOthersPlace) {
  for (std::size_t page = 1; page < pages(); ++page) {
    std::string bytes = sound_;
    const std::size_t other = 1 + (page * 5 + 2) % (pages() - 1);
    if (other == page) continue;
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage),
                     bytes.begin() + static_cast<std::ptrdiff_t>((page + 1) * kPage),
                     bytes.begin() + static_cast<std::ptrdiff_t>(other * kPage));
    expect_no_other_answer(bytes,
                           "pages " + std::to_string(page + 1) + " and " + std::to_string(other + 1) + " swapped");
  }
}

TEST_F(Corruption, OldVersionsOfAPage) {
  int changed = 0, noticed = 0;
  for (std::size_t page = 0; (page + 1) * kPage <= older_.size(); ++page) {
    if (older_.compare(page * kPage, kPage, sound_, page * kPage, kPage) == 0) continue;
    std::string bytes = sound_;
    bytes.replace(page * kPage, kPage, older_, page * kPage, kPage);
    ++changed;
    noticed += expect_no_other_answer(bytes, "page " + std::to_string(page + 1) + " of an older state") > 0;
  }
  EXPECT_GT(changed, 20);
  EXPECT_GT(noticed, changed / 2);
}

TEST_F(Corruption, AFileCutShort) {
  for (std::size_t kept = 0; kept < sound_.size(); kept += 3 * kPage + 100)
    EXPECT_GT(expect_no_other_answer(sound_.substr(0, kept), "cut to " + std::to_string(kept)), 0) << kept;
}

// Every column of every table, changed by a statement that SQLite finds nothing wrong with.
TEST_F(Corruption, EveryColumnOfEveryTable) {
  const std::string path = folder_->file("edited.db");
  const auto edit = [&](const std::string& sql) {
    for (const char* side : {"-wal", "-shm"}) std::filesystem::remove(path + side);
    folder_->write("edited.db", sound_);
    auto database = Database::open(path, Database::Mode::kWrite, 100);
    const Status done = database->execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; " + sql);
    EXPECT_TRUE(done) << sql << ": " << done.error().message;
  };
  int edits = 0;
  const auto expect_noticed = [&](const std::string& sql) {
    edit(sql);
    ++edits;
    expect_no_other_answer_of(path, sql);
    const auto found = inspect(path, 100, Depth::kRows);  // the rows alone are enough
    EXPECT_TRUE(!found || found->damages > 0) << sql << ": not found by an inspection";
  };
  std::map<std::string, std::vector<std::string>> tables;
  {
    auto database = Database::open(folder_->file("sound.db"), Database::Mode::kRead, 100);
    auto find = database->prepare(
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
        " AND m.name NOT LIKE 'sqlite%'");
    ASSERT_TRUE(find);
    while (*find->step()) tables[std::string(find->text(0))].emplace_back(find->text(1));
  }
  EXPECT_EQ(tables.size(), 19u);
  for (const auto& [table, columns] : tables) {
    for (const std::string& column : columns) {
      if ((table == "result" || table == "piece") && column == "id")
        continue;  // means nothing, and nothing points to it
      const std::string one = " WHERE " + columns[0] + " = (SELECT max(" + columns[0] + ") FROM " + table + ")";
      expect_noticed("UPDATE OR REPLACE " + table + " SET " + column + " = CASE typeof(" + column +
                     ") WHEN 'integer' THEN " + column + " + 1 WHEN 'real' THEN " + column +
                     " + 0.5 WHEN 'null' THEN 1"
                     " WHEN 'blob' THEN CAST(coalesce(substr(" +
                     column + ", 1, length(" + column +
                     ") - 1), '') || 'Z' AS BLOB)"
                     " ELSE " +
                     column + " || 'x' END" + one);
    }
    expect_noticed("DELETE FROM " + table + " WHERE " + columns[0] + " = (SELECT max(" + columns[0] + ") FROM " +
                   table + ")");
    expect_noticed("DELETE FROM " + table + " WHERE " + columns[0] + " = (SELECT min(" + columns[0] + ") FROM " +
                   table + ")");
    expect_noticed("DELETE FROM " + table);
  }
  // Rows that change places, with their checksums.
  expect_noticed("UPDATE form SET configuration_id = CASE id WHEN 3 THEN 70 ELSE 3 END WHERE id IN (3, 70)");
  expect_noticed(
      "UPDATE pack SET id = 100 WHERE id = 1; UPDATE pack SET id = 1 WHERE id = 2; UPDATE pack SET id = 2"
      " WHERE id = 100");
  expect_noticed("UPDATE result SET run_id = 1 WHERE place > 15");
  expect_noticed("UPDATE run SET id = id + 5");
  EXPECT_GT(edits, 140);
}

TEST_F(Corruption, DefinitionsOfTables) {
  const std::string path = folder_->file("defined.db");
  for (const char* sql :
       {"DROP VIEW counted; CREATE VIEW counted AS SELECT form_id, source_id, machine_id, trace_id, sweep_source_hash,"
        " min(count) AS count, max(raised) AS raised FROM occurrence GROUP BY 1, 2, 3, 4, 5",
        "DROP INDEX form_by_configuration", "PRAGMA user_version = 4", "PRAGMA user_version = 1", "DROP TABLE tally",
        "DROP TABLE setting"}) {
    for (const char* side : {"-wal", "-shm"}) std::filesystem::remove(path + side);
    folder_->write("defined.db", sound_);
    {
      auto database = Database::open(path, Database::Mode::kWrite, 100);
      ASSERT_TRUE(database->execute(sql)) << sql;
    }
    EXPECT_GT(expect_no_other_answer_of(path, sql), 0) << sql;
  }
}

}  // namespace
}  // namespace opwright::store::sqlite

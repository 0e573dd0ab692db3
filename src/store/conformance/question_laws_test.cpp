// What is asked of a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "store/conformance/store_under_test.h"

namespace opwright::store {
namespace {

constexpr std::uint64_t kWidth = 100, kBig = UINT64_MAX - 1, kName = 7;  // kinds of facts

// Three configurations of two operations; the terms say which: 1 all, 2 even ids, 3 only the last.
class QuestionLaws : public StoreLaws {
 protected:
  void SetUp() override {
    StoreLaws::SetUp();
    if (IsSkipped()) return;
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    add_call(batch, *writer, "b");
    add_call(batch, *writer, "c", "ttnn.matmul");
    batch.forms.push_back({FormId{4}, ConfigId{1}, fingerprint("a2"), FormKind::kEra1, 0, 0, 0, "ttnn::add", "[]"});
    const std::uint64_t all = 1, even = 2, last = UINT64_MAX;  // beyond what SQLite's integers hold unsigned
    batch.facts = {{kWidth, 32, {1}}, {kWidth, 64, {1}}, {kWidth, 64, {2}}, {kWidth, -5, {3}}, {kBig, INT64_MAX, {3}}};
    batch.words = {{kName, 1, "one"}, {kName, 2, "two"}, {kName, 1, "one"}};
    batch.postings = {{all, {3}}, {all, {1}}, {all, {2}}, {even, {2}}, {last, {3}}};
    EXPECT_TRUE(writer->write(batch));
    const TraceId trace = *writer->trace({"u1", "master", "{}"}), other = *writer->trace({"u2", "master", "{}"});
    const SourceId s = *writer->source({"s.py", "s.py", "hf/m", "m"}), t = *writer->source({"t.py", "t.py", "", "t"});
    const MachineId machine = *writer->machine({"{}", "M x1"});
    EXPECT_TRUE(writer->add_occurrences(
        std::vector<NewOccurrence>{{{1}, t, machine, trace, "", "h1", 5, "{\"k\": 1}", 3},
                                   {{1}, t, machine, trace, "", "h2", 5, ""},  // a copy with another hash
                                   {{1}, s, {0}, other, "sw", "", 2, "", 1},
                                   {{2}, s, machine, trace, "", "", kUncounted, ""},
                                   {{2}, t, machine, trace, "", "", kUncounted, ""},
                                   {{3}, {0}, {0}, trace, "", "", 1, ""}}));
    EXPECT_TRUE(writer->add_examples(std::vector<RaisedExample>{{{1}, "E: text"}}));
    EXPECT_TRUE(writer->commit());
  }
};

std::vector<std::int64_t> ids(const Result<std::vector<ConfigId>>& result) {
  std::vector<std::int64_t> numbers;
  for (const ConfigId id : *result) numbers.push_back(id.value);
  return numbers;
}

using Ids = std::vector<std::int64_t>;

std::int64_t batch_form(Reader& reader, std::int64_t id) { return (*reader.forms(ConfigId{id}))[0].id.value; }

// A card in words: its id, operation, every sighting, its parts.
std::vector<std::string> cards_of(Reader& reader, std::initializer_list<std::int64_t> numbers) {
  std::vector<ConfigId> wanted;
  for (const std::int64_t number : numbers) wanted.push_back({number});
  std::vector<std::string> lines;
  const Status read = reader.cards(wanted, true, [&](const Card& card) {
    std::string line = std::to_string(card.id.value) + " " + std::string(card.op);
    for (const Seen& one : card.seen)
      line += " | form " + std::to_string(one.form.value) + " source " + std::to_string(one.source.value) +
              " machine " + std::to_string(one.machine.value) + " trace " + std::to_string(one.trace.value) + " '" +
              std::string(one.sweep_source_hash) + "' " + std::to_string(one.count) + " " + std::to_string(one.raised);
    if (card.has_parts) line += " | parts";
    for (const std::uint32_t place : card.parts) line += " " + std::string(card.table[place]);
    lines.push_back(line);
    return Status();
  });
  EXPECT_TRUE(read) << read.error().message;
  return lines;
}
using Lines = std::vector<std::string>;

TEST_P(QuestionLaws, CardsSayWhereAConfigurationWasSeen) {
  const auto reader = this->reader();
  EXPECT_EQ(
      cards_of(*reader, {3, 1, 2}),
      (Lines{"3 ttnn.matmul | form 3 source 0 machine 0 trace 1 '' 1 0",
             "1 ttnn.add | form 1 source 1 machine 0 trace 2 'sw' 2 1 | form 1 source 2 machine 1 trace 1 '' 5 3",
             "2 ttnn.add | form 2 source 1 machine 1 trace 1 '' -1 0 | form 2 source 2 machine 1 trace 1 '' -1 0"}));
  const Status read = reader->cards(std::vector<ConfigId>{{1}}, false, [&](const Card& card) {
    EXPECT_EQ(card.key, key("a"));
    EXPECT_EQ(card.convention, Convention::kPython);
    EXPECT_FALSE(card.has_parts);
    return Status();
  });
  EXPECT_TRUE(read);
}

TEST_P(QuestionLaws, CardsFollowWhatLaterImportsChange) {
  {
    const auto writer = begin();
    const SourceId s = *writer->source({"s.py", "s.py", "hf/m", "m"});
    EXPECT_TRUE(writer->add_occurrences(std::vector<NewOccurrence>{{{3}, {0}, {0}, {1}, "", "", 9, ""},
                                                                   {{3}, s, {0}, {1}, "", "", 4, "", 4},
                                                                   {{2}, s, {1}, {1}, "", "", kUncounted, ""}}));
    Batch batch;
    for (int i = 0; i < 200; ++i) add_call(batch, *writer, "many " + std::to_string(i));  // several blocks
    EXPECT_TRUE(writer->write(batch));
    std::vector<NewOccurrence> rows;
    for (const NewForm& form : batch.forms) rows.push_back({form.id, s, {0}, {1}, "", "", form.id.value, ""});
    std::reverse(rows.begin(), rows.end());
    EXPECT_TRUE(writer->add_occurrences(rows));
    EXPECT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  EXPECT_EQ(
      cards_of(*reader, {3}),
      (Lines{"3 ttnn.matmul | form 3 source 0 machine 0 trace 1 '' 9 0 | form 3 source 1 machine 0 trace 1 '' 4 4"}));
  for (std::int64_t id = 4; id < 204; ++id) {
    const std::string form = std::to_string(batch_form(*reader, id));
    EXPECT_EQ(cards_of(*reader, {id}), (Lines{std::to_string(id) + " ttnn.add | form " + form +
                                              " source 1 machine 0 trace 1 '' " + form + " 0"}));
  }
}

TEST_P(QuestionLaws, PartsAreThoseOfTheFirstForm) {
  const auto parts = [](std::initializer_list<std::string_view> texts) {
    std::string out;
    for (const std::string_view text : texts) append_sized(out, text);
    return out;
  };
  const auto first_form = (*reader()->forms(ConfigId{1}))[0].id.value;  // by fingerprint
  for (const std::int64_t form : {std::int64_t{1}, std::int64_t{4}}) {
    const auto writer = begin();
    Batch batch;
    const std::string name = form == 1 ? "a" : "a2";
    batch.records.push_back({{1}, fingerprint(name), parts({"of", name})});
    if (form == 4) {  // new ones beside it, in the same block
      add_call(batch, *writer, "d");
      batch.configurations.back().parts = parts({"of", "d", "of"});
    }
    EXPECT_TRUE(writer->write(batch));
    EXPECT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  EXPECT_THAT(cards_of(*reader, {1}).at(0), ::testing::EndsWith(first_form == 1 ? " | parts of a" : " | parts of a2"));
  EXPECT_THAT(cards_of(*reader, {4}).at(0), ::testing::EndsWith(" | parts of d of"));
  EXPECT_THAT(cards_of(*reader, {2}).at(0), ::testing::Not(::testing::HasSubstr("parts")));
}

TEST_P(QuestionLaws, Totals) {
  const Totals totals = *reader()->totals();
  EXPECT_EQ(totals.operations, 2);
  EXPECT_EQ(totals.configurations, 3);
  EXPECT_EQ(totals.forms, 4);
  EXPECT_EQ(totals.sources, 2);
  EXPECT_EQ(totals.machines, 1);
  EXPECT_EQ(totals.traces, 2);
  EXPECT_GT(totals.bytes, 0);
}

TEST_P(QuestionLaws, OperationsCountCallsOnce) {
  const auto rows = *reader()->operations();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "ttnn.add");
  EXPECT_EQ(rows[0].configurations, 2);
  EXPECT_EQ(rows[0].calls, 5 + 2 + 1);  // the copy adds nothing; what is not counted stands for one call a trace
  EXPECT_EQ(rows[0].uncounted, 1);
  EXPECT_EQ(rows[0].sources, 2);
  EXPECT_EQ(rows[0].raised, 3 + 1);  // once, though the copy does not say it
  EXPECT_EQ(rows[1].name, "ttnn.matmul");
  EXPECT_EQ(rows[1].calls, 1);
  EXPECT_EQ(rows[1].raised, 0);
  EXPECT_EQ(rows[1].sources, 0);  // not known is no source
  EXPECT_EQ(*reader()->operation_names(), (std::vector<std::string>{"ttnn.add", "ttnn.matmul"}));
}

TEST_P(QuestionLaws, CandidatesHaveAllTerms) {
  const auto reader = this->reader();
  const auto with = [&](std::vector<std::uint64_t> terms) { return ids(reader->candidates(with_terms(terms))); };
  EXPECT_EQ(with({}), (Ids{1, 2, 3}));
  EXPECT_EQ(with({1}), (Ids{1, 2, 3}));
  EXPECT_EQ(with({1, 2}), (Ids{2}));
  EXPECT_EQ(with({UINT64_MAX, 1}), (Ids{3}));
  EXPECT_EQ(with({2, UINT64_MAX}), (Ids{}));
  EXPECT_EQ(with({1, 99}), (Ids{}));
}

TEST_P(QuestionLaws, ATermsListGoesOnInLaterImports) {
  {
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "d");
    batch.configurations[0].id = {4};
    batch.postings = {{1, {4}}, {2, {4}}};
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  EXPECT_EQ(ids(reader->candidates(with_terms({1}))), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(ids(reader->candidates(with_terms({1, 2}))), (Ids{2, 4}));
}

TEST_P(QuestionLaws, FormsAreKeptToTheLetterInTheOrderOfTheirFingerprints) {
  const auto reader = this->reader();
  const auto forms = *reader->forms(ConfigId{1});
  ASSERT_EQ(forms.size(), 2u);
  const auto& era2 = forms[0].kind == FormKind::kEra2 ? forms[0] : forms[1];
  const auto& era1 = forms[0].kind == FormKind::kEra2 ? forms[1] : forms[0];
  EXPECT_EQ(era2.text, R"({"name": "a"})");
  EXPECT_EQ(era2.op, "ttnn.add");
  EXPECT_EQ(era1.text, "[]");
  EXPECT_EQ(era1.op, "ttnn::add");
  EXPECT_EQ(era1.id.value, 4);
  EXPECT_EQ(era2.error, "E: text");
  EXPECT_EQ(era1.error, "");
  EXPECT_TRUE(reader->forms(ConfigId{99})->empty());
}

TEST_P(QuestionLaws, OccurrencesAreSortedByWhatTheySay) {
  const auto reader = this->reader();
  const auto rows = *reader->occurrences(*reader->forms(ConfigId{1}));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].source, "s.py");
  EXPECT_EQ(rows[0].model, "m");
  EXPECT_EQ(rows[0].hf_model, "hf/m");
  EXPECT_EQ(rows[0].machine, "");
  EXPECT_EQ(rows[0].trace_uid, "u2");
  EXPECT_EQ(rows[0].sweep_source_hash, "sw");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].raised, 1);
  EXPECT_EQ(rows[1].source, "t.py");
  EXPECT_EQ(rows[1].machine_label, "M x1");
  EXPECT_EQ((std::vector<std::string>{rows[1].config_hash, rows[2].config_hash}),
            (std::vector<std::string>{"h1", "h2"}));
  EXPECT_EQ(rows[1].extra, "{\"k\": 1}");
  EXPECT_EQ((std::vector<std::int64_t>{rows[1].raised, rows[2].raised}), (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(reader->occurrences(*reader->forms(ConfigId{2}))->front().count, kUncounted);
}

TEST_P(QuestionLaws, ManyFormsAreAskedForAtOnceAndOneByOne) {
  start_anew();
  constexpr std::size_t kMany = 1285;
  {
    const auto writer = begin();
    Batch batch;
    for (std::size_t i = 0; i < kMany; ++i) add_call(batch, *writer, std::to_string(i));
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  const auto all = *reader->forms(*reader->candidates({}));
  ASSERT_EQ(all.size(), kMany);
  for (std::size_t i = kMany; i-- > 0; i = i > 100 ? i - 90 : i) {
    const std::string text = "{\"name\": \"" + std::to_string(i) + "\"}";
    EXPECT_EQ(all[i].text, text);
    EXPECT_EQ(reader->forms(all[i].configuration)->at(0).text, text);
  }
}

TEST_P(QuestionLaws, FactsAreFoundByRange) {
  const auto reader = this->reader();
  const auto in = [&](std::vector<Range> ranges) {
    return ids(reader->candidates(std::vector<Way>{{{}, {{{}, std::move(ranges)}}}}));
  };
  EXPECT_EQ(in({{kWidth, 64, 64}}), (Ids{1, 2}));
  EXPECT_EQ(in({{kWidth, 33, 63}}), (Ids{}));
  EXPECT_EQ(in({{kWidth, INT64_MIN, 32}}), (Ids{1, 3}));
  EXPECT_EQ(in({{kWidth, INT64_MIN, INT64_MAX}}), (Ids{1, 2, 3}));
  EXPECT_EQ(in({{kBig, 0, INT64_MAX}}), (Ids{3}));
  EXPECT_EQ(in({{kWidth, -5, -5}, {kWidth, 32, 32}}), (Ids{1, 3}));  // one of them is enough
  EXPECT_EQ(in({{kName, 0, 9}}), (Ids{}));
  EXPECT_EQ(in({}), (Ids{}));
}

TEST_P(QuestionLaws, WaysAreJoinedAndTheirPartsAreAllNeeded) {
  const auto reader = this->reader();
  const AnyOf wide{{}, {{kWidth, 64, 64}}}, last{{UINT64_MAX}, {{kWidth, 32, 32}}};
  EXPECT_EQ(ids(reader->candidates(std::vector<Way>{{{2}, {wide}}})), (Ids{2}));
  EXPECT_EQ(ids(reader->candidates(std::vector<Way>{{{}, {wide, last}}})), (Ids{1}));
  EXPECT_EQ(ids(reader->candidates(std::vector<Way>{{{}, {last}}})), (Ids{1, 3}));  // a term or a number
  EXPECT_EQ(ids(reader->candidates(std::vector<Way>{{{2}, {}}, {{}, {last}}})), (Ids{1, 2, 3}));
}

TEST_P(QuestionLaws, WhereAConfigurationWasSeenIsAFact) {
  const auto reader = this->reader();
  std::map<std::string, std::int64_t> sources, machines;
  const auto all_sources = *reader->sources();
  for (const SourceRow& row : all_sources) sources[row.text] = row.id.value;
  const auto all_machines = *reader->machines();
  for (const MachineRow& row : all_machines) machines[row.label] = row.id.value;
  EXPECT_EQ(sources.size(), 3u);
  EXPECT_EQ(machines.size(), 2u);
  const auto seen = [&](std::uint64_t kind, std::int64_t id) {
    return ids(reader->candidates(std::vector<Way>{{{}, {{{}, {{kind, id, id}}}}}}));
  };
  EXPECT_EQ(seen(kSourceFact, sources.at("s.py")), (Ids{1, 2}));
  EXPECT_EQ(seen(kSourceFact, sources.at("")), (Ids{3}));
  EXPECT_EQ(seen(kMachineFact, machines.at("M x1")), (Ids{1, 2}));
  {  // later, of a configuration that is there
    const auto writer = begin();
    const auto trace = *writer->trace({"u3", "f", "{}"});
    ASSERT_TRUE(writer->add_occurrences(
        std::vector<NewOccurrence>{{{1}, {sources.at("s.py")}, {machines.at("M x1")}, trace, "", "", 1, ""},
                                   {{3}, {sources.at("s.py")}, {0}, trace, "", "", 1, ""}}));
    ASSERT_TRUE(writer->commit());
  }
  EXPECT_EQ(seen(kSourceFact, sources.at("s.py")), (Ids{1, 2}));  // what a reader began with
  EXPECT_EQ(ids(this->reader()->candidates(
                std::vector<Way>{{{}, {{{}, {{kSourceFact, sources.at("s.py"), sources.at("s.py")}}}}}})),
            (Ids{1, 2, 3}));
}

TEST_P(QuestionLaws, WordsOfAKindAreListedOnce) {
  auto words = *reader()->words(std::vector<std::uint64_t>{kName, kWidth});
  std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.value < b.value; });
  EXPECT_EQ(words, (std::vector<Word>{{kName, 1, "one"}, {kName, 2, "two"}}));
  EXPECT_TRUE(reader()->words(std::vector<std::uint64_t>{kWidth})->empty());
}

TEST_P(QuestionLaws, AReaderSeesOneState) {
  const auto reader = this->reader();
  EXPECT_EQ(reader->totals()->configurations, 3);
  const auto writer = begin();
  Batch batch;
  add_call(batch, *writer, "z");
  batch.forms[0].id = writer->next_form();
  ASSERT_TRUE(writer->write(batch));
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(reader->totals()->configurations, 3);
  EXPECT_EQ(this->reader()->totals()->configurations, 4);
}

TEST_P(QuestionLaws, AKeyIsFoundByItsBeginning) {
  const auto reader = this->reader();
  const std::string hex = to_hex(key("b"));
  EXPECT_EQ(ids(reader->with_key(hex)), (Ids{2}));
  EXPECT_EQ(ids(reader->with_key(hex.substr(0, 7))), (Ids{2}));  // an odd number of digits too
  EXPECT_EQ(ids(reader->with_key(to_hex(key("none")))), (Ids{}));
}

OPWRIGHT_FOR_ALL_STORES(QuestionLaws);

}  // namespace
}  // namespace opwright::store

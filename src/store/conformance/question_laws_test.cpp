// What is asked of a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

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

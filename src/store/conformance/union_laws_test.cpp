// Importing is a union: order, repetition and grouping do not matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "store/conformance/store_under_test.h"

namespace opwright::store {
namespace {

struct Given {
  std::int64_t count;
  const char* extra;
  std::int64_t raised = 0;
};

class UnionLaws : public StoreLaws {
 protected:
  // Writes one occurrence several times; says "count extra" of what is there then.
  std::string after(const std::vector<Given>& given) {
    start_anew();
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    EXPECT_TRUE(writer->write(batch));
    const TraceId trace = *writer->trace({"u", "f", "{}"});
    for (const Given& g : given)
      EXPECT_TRUE(writer->add_occurrences(std::vector<NewOccurrence>{
          {FormId{1}, SourceId{0}, MachineId{0}, trace, "", "", g.count, g.extra, g.raised}}));
    EXPECT_TRUE(writer->commit());
    const auto reader = this->reader();
    const auto rows = reader->occurrences(*reader->forms(ConfigId{1}));
    EXPECT_EQ(rows->size(), 1u);
    const std::int64_t raised = rows->front().raised;
    return std::to_string(rows->front().count) + (raised > 0 ? ", raised " + std::to_string(raised) : "") + " " +
           rows->front().extra;
  }

  // A new store that is told these of one trace.
  std::string facts_after(const std::vector<std::pair<const char*, const char*>>& given) {
    start_anew();
    const auto writer = begin();
    for (const auto& [format, facts] : given) EXPECT_TRUE(writer->trace({"u", format, facts}));
    EXPECT_TRUE(writer->commit());
    return traces().at(0);
  }
};

TEST_P(UnionLaws, TheLargerCountStaysWhateverTheOrder) {
  EXPECT_EQ(after({{3, ""}, {5, ""}, {4, ""}}), "5 ");
  EXPECT_EQ(after({{3, ""}, {3, ""}}), "3 ");
  EXPECT_EQ(after({{kUncounted, ""}, {0, ""}}), "0 ");
  EXPECT_EQ(after({{0, ""}, {kUncounted, ""}}), "0 ");
  EXPECT_EQ(after({{kUncounted, ""}, {kUncounted, ""}}), "-1 ");
}

TEST_P(UnionLaws, OfTwoExtrasTheLargerStaysWhateverTheOrder) {
  EXPECT_EQ(after({{1, "{\"a\": 1}"}, {1, ""}}), "1 {\"a\": 1}");
  EXPECT_EQ(after({{1, ""}, {1, "{\"a\": 1}"}}), "1 {\"a\": 1}");
  std::vector<Given> given{{2, "{\"b\": 1}"}, {7, ""}, {kUncounted, "{\"a\": 1}"}};
  std::sort(given.begin(), given.end(), [](const Given& a, const Given& b) { return a.count < b.count; });
  do {
    EXPECT_EQ(after(given), "7 {\"b\": 1}");
  } while (std::next_permutation(given.begin(), given.end(),
                                 [](const Given& a, const Given& b) { return a.count < b.count; }));
}

TEST_P(UnionLaws, TheLargerNumberOfRaisedCallsStaysWhateverTheOrder) {
  EXPECT_EQ(after({{3, "", 1}, {3, "", 1}}), "3, raised 1 ");
  EXPECT_EQ(after({{3, "", 0}, {3, "", 2}, {3, "", 1}}), "3, raised 2 ");
  EXPECT_EQ(after({{3, "", 3}, {kUncounted, "", 0}}), "3, raised 3 ");
  EXPECT_EQ(after({{5, "", 1}, {4, "", 4}}), after({{4, "", 4}, {5, "", 1}}));
  EXPECT_EQ(after({{5, "", 1}, {4, "", 4}}), "5, raised 4 ");
}

TEST_P(UnionLaws, OfTwoExamplesTheLargerStaysWhateverTheOrder) {
  const auto example_of = [&](const std::vector<const char*>& given) {
    start_anew();
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    EXPECT_TRUE(writer->write(batch));
    for (const char* error : given) EXPECT_TRUE(writer->add_examples(std::vector<RaisedExample>{{FormId{1}, error}}));
    EXPECT_TRUE(writer->commit());
    return reader()->forms(ConfigId{1})->front().error;
  };
  EXPECT_EQ(example_of({}), "");
  EXPECT_EQ(example_of({"b\né", "a", "", "b"}), "b\né");
  EXPECT_EQ(example_of({"", "b", "b", "a", "b\né"}), "b\né");
}

TEST_P(UnionLaws, FactsAreUnitedInAnyOrder) {
  std::vector<std::pair<std::string, std::string>> given{{"master", R"({"b": "2", "a": "1"})"},
                                                         {"per-op", R"({"a": "0", "c": "é"})"},
                                                         {"master", R"({"b": "3"})"},
                                                         {"x", "{}"}};
  const auto writer = begin();
  std::sort(given.begin(), given.end());
  int orders = 0;
  do {
    const std::string uid = "u" + std::to_string(orders++);
    for (const auto& [format, facts] : given) ASSERT_TRUE(writer->trace({uid, format, facts}));
  } while (std::next_permutation(given.begin(), given.end()));
  ASSERT_TRUE(writer->commit());
  const auto lines = traces();
  ASSERT_EQ(lines.size(), 24u);
  for (const std::string& line : lines)
    EXPECT_EQ(line.substr(line.find(' ')), R"( master {"a": "0", "b": "2", "c": "\u00e9"})");
}

TEST_P(UnionLaws, SayingItAgainChangesNothing) {
  const char* facts = R"({"b": "2", "a": "1"})";
  const std::string once = facts_after({{"f", facts}});
  EXPECT_EQ(once, R"(u f {"a": "1", "b": "2"})");
  EXPECT_EQ(facts_after({{"f", facts}, {"f", facts}, {"f", "{}"}}), once);
}

TEST_P(UnionLaws, UnitingPartsFirstGivesTheSame) {  // (a b) c = a (b c), where a united pair is itself a text of facts
  const char *a = R"({"k": "2", "x": "1"})", *b = R"({"k": "1", "y": "1"})", *c = R"({"k": "3", "z": "1"})";
  const auto united = [&](const char* left, const char* right) {
    return facts_after({{"f", left}, {"f", right}}).substr(4);
  };
  EXPECT_EQ(united(united(a, b).c_str(), c), united(a, united(b, c).c_str()));
}

// ---- whole imports

// One call as a trace tells it.
struct Told {
  std::string config, form;  // a configuration, and one of its spellings
  std::string source, machine, trace;
  std::int64_t count = 1, raised = 0;
  std::string error;
};

// As the program imports: what is known is looked up, what is new gets the next ids, all in one transaction.
void import_into(Store& store, const std::vector<Told>& told) {
  const auto writer = *store.writer(1000, kIdentity);
  const auto lookup = *store.lookup(1000);
  Batch batch;
  std::map<std::string, ConfigId> configs;
  std::map<std::string, FormId> forms;
  std::vector<NewOccurrence> rows;
  std::vector<RaisedExample> examples;
  ConfigId next_config = writer->next_configuration();
  FormId next_form = writer->next_form();
  for (const Told& one : told) {
    if (lookup && !configs.contains(one.config)) {
      if (const auto known = *lookup->configuration(key(one.config))) configs[one.config] = *known;
    }
    if (!configs.contains(one.config)) {
      configs[one.config] = next_config;
      batch.configurations.push_back({next_config, "ttnn." + one.config, Convention::kPython, key(one.config)});
      batch.postings.push_back({xxh64(one.config), next_config});
      batch.facts.push_back({xxh64("length"), static_cast<std::int64_t>(one.config.size()), next_config});
      ++next_config.value;
    }
    const std::string form = one.config + "/" + one.form;
    if (lookup && !forms.contains(form)) {
      if (const auto known = *lookup->form(fingerprint(form))) forms[form] = known->form;
    }
    if (!forms.contains(form)) {
      forms[form] = next_form;
      batch.forms.push_back({next_form, configs[one.config], fingerprint(form), FormKind::kEra2, 0, 0, 0,
                             "ttnn." + one.config, "{\"" + form + "\": 1}"});
      ++next_form.value;
    }
  }
  ASSERT_TRUE(writer->write(batch));
  for (const Told& one : told) {
    const FormId form = forms[one.config + "/" + one.form];
    rows.push_back({form, *writer->source({one.source, one.source, "", one.source}),
                    *writer->machine({one.machine, one.machine}), *writer->trace({one.trace, "f", "{}"}), "", "",
                    one.count, "", one.raised});
    if (!one.error.empty()) examples.push_back({form, one.error});
  }
  ASSERT_TRUE(writer->add_occurrences(rows));
  ASSERT_TRUE(writer->add_examples(examples));
  ASSERT_TRUE(writer->commit());
}

// What a store holds, as something to import.
std::vector<Told> told_by(Store& store) {
  const auto reader = *store.reader(100);
  std::vector<Told> told;
  const auto forms = *reader->forms(*reader->candidates({}));
  for (const FormRow& form : forms) {
    const std::string name = form.text.substr(2, form.text.find('"', 2) - 2);
    const std::size_t cut = name.find('/');
    const auto rows = *reader->occurrences(std::span(&form, 1));
    for (const OccurrenceRow& row : rows)
      told.push_back({name.substr(0, cut), name.substr(cut + 1), row.source, row.machine, row.trace_uid, row.count,
                      row.raised, row.raised > 0 ? form.error : ""});
  }
  return told;
}

const std::vector<std::vector<Told>> kImports{
    {{"add", "era1", "s.py", "n150", "t1", 3}, {"mul", "era2", "s.py", "n150", "t1", kUncounted}},
    {{"add", "era1", "s.py", "n150", "t1", 5}, {"add", "era2", "t.py", "n300", "t2", 1, 1, "E: b"}},
    {{"add", "era2", "t.py", "n300", "t2", 1, 1, "E: a"}, {"sub", "era2", "", "", "t3", 7}},
    {},
};

TEST_P(UnionLaws, TheOrderOfImportsDoesNotMatter) {
  std::vector<std::size_t> order{0, 1, 2, 3};
  std::vector<std::string> expected;
  do {
    start_anew();
    for (const std::size_t i : order) import_into(*store(), kImports[i]);
    const auto content = content_of(*store());
    if (expected.empty()) expected = content;
    EXPECT_EQ(content, expected);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_GT(expected.size(), 8u);
}

TEST_P(UnionLaws, ImportingAgainChangesNothing) {
  for (const auto& told : kImports) import_into(*store(), told);
  const auto expected = content_of(*store());
  for (const auto& told : kImports) {
    import_into(*store(), told);
    EXPECT_EQ(content_of(*store()), expected);
  }
}

TEST_P(UnionLaws, OneImportOfAllIsTheSameAsMany) {
  std::vector<Told> all;
  for (const auto& told : kImports) {
    import_into(*store(), told);
    all.insert(all.end(), told.begin(), told.end());
  }
  const auto expected = content_of(*store());
  start_anew();
  import_into(*store(), all);
  EXPECT_EQ(content_of(*store()), expected);
}

TEST_P(UnionLaws, MergingStoresIsTheUnionOfTheirContents) {
  for (const auto& told : kImports) import_into(*store(), told);
  const auto expected = content_of(*store());
  std::vector<std::unique_ptr<Place>> parts;
  for (const auto& told : kImports) {
    parts.push_back(GetParam().make());
    import_into(*parts.back()->store(), told);
  }
  start_anew();
  for (const auto& part : parts) import_into(*store(), told_by(*part->store()));
  EXPECT_EQ(content_of(*store()), expected);
  for (const auto& part : parts) {  // and the other way round, into one that has something
    import_into(*part->store(), told_by(*store()));
    EXPECT_EQ(content_of(*part->store()), expected);
  }
}

OPWRIGHT_FOR_ALL_STORES(UnionLaws);

}  // namespace
}  // namespace opwright::store

#include "store/sqlite/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "store/sqlite/lookup.h"
#include "store/sqlite/test_store.h"

namespace opwright::store {
namespace {

TEST(Writer, WhatIsCommittedIsThere) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  {
    Writer writer = begin(path);
    EXPECT_EQ(writer.next_configuration().value, 1);
    Batch batch;
    add_call(batch, writer, "a");
    add_call(batch, writer, "b", "ttnn.matmul");
    ASSERT_TRUE(writer.write(batch));
    ASSERT_TRUE(writer.commit());
  }
  const Totals totals = *open_reader(path).totals();
  EXPECT_EQ(totals.configurations, 2);
  EXPECT_EQ(totals.forms, 2);
  EXPECT_EQ(totals.operations, 2);
  const Writer next = begin(path);
  EXPECT_EQ(next.next_configuration().value, 3);
  EXPECT_EQ(next.next_form().value, 3);
}

TEST(Writer, WhatIsNotCommittedIsGone) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  {
    Writer writer = begin(path);
    ASSERT_TRUE(writer.trace("u", "master", "{}"));
    ASSERT_TRUE(writer.commit());
  }
  {
    Writer writer = begin(path);
    Batch batch;
    add_call(batch, writer, "a");
    ASSERT_TRUE(writer.write(batch));
  }  // the destructor rolls back
  EXPECT_EQ(open_reader(path).totals()->configurations, 0);
  EXPECT_EQ(traces_of(path), std::vector<std::string>{"u master {}"});  // the file that was there stays
}

TEST(Writer, ADiscardedStoreThatWasNotThereBeforeGoesAway) {
  const TestFolder folder;
  {
    Writer writer = begin(folder.file("s.db"));
    EXPECT_GT(folder.entries(), 0u);
    writer.discard();
    EXPECT_EQ(folder.entries(), 0u);
  }
  {
    const Writer dropped = begin(folder.file("s.db"));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Writer, DiscardAfterCommitDoesNothing) {
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  ASSERT_TRUE(writer.trace("u", "f", "{}"));
  ASSERT_TRUE(writer.commit());
  writer.discard();
  EXPECT_EQ(traces_of(folder.file("s.db")).size(), 1u);
}

TEST(Writer, AMovedWriterEndsOnce) {
  const TestFolder folder;
  {
    Writer first = begin(folder.file("s.db"));
    Writer second = std::move(first);
    ASSERT_TRUE(second.trace("u", "f", "{}"));
    ASSERT_TRUE(second.commit());
  }
  EXPECT_EQ(traces_of(folder.file("s.db")).size(), 1u);
}

TEST(Writer, AStoreOfAnotherIdentityIsRefused) {
  const TestFolder folder;
  ASSERT_TRUE(begin(folder.file("s.db")).commit());
  const auto other = Writer::begin(folder.file("s.db"), 100, "keys 2, terms 1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(other.error().message.find("keys 2"), std::string::npos);
  EXPECT_TRUE(Writer::begin(folder.file("s.db"), 100, kIdentity));  // and left usable
}

TEST(Writer, TheSameKeyTwiceIsAnError) {
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  Batch batch;
  add_call(batch, writer, "a");
  add_call(batch, writer, "a");
  EXPECT_FALSE(writer.write(batch));
}

TEST(Writer, ASecondWriterWaits) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  Writer first = begin(path);
  ASSERT_TRUE(first.trace("first", "f", "{}"));
  const auto impatient = Writer::begin(path, 20, kIdentity);
  ASSERT_FALSE(impatient);
  EXPECT_EQ(impatient.error().code, ErrorCode::kLocked);
  std::thread second([&] {
    Writer writer = begin(path, 20000);
    EXPECT_TRUE(writer.trace("second", "f", "{}"));
    EXPECT_TRUE(writer.commit());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(first.commit());
  second.join();
  EXPECT_EQ(traces_of(path), (std::vector<std::string>{"first f {}", "second f {}"}));
}

TEST(Writer, AWriterThatWaitedForADiscardedFileStartsAnew) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  Writer first = begin(path);
  std::thread second([&] {
    Writer writer = begin(path, 20000);
    EXPECT_TRUE(writer.trace("second", "f", "{}"));
    EXPECT_TRUE(writer.commit());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  first.discard();
  second.join();
  EXPECT_EQ(traces_of(path), std::vector<std::string>{"second f {}"});
}

// ---- occurrences
// -----------------------------------------------------------------------------------------------------

struct Given {
  std::int64_t count;
  const char* extra;
  std::int64_t raised = 0;
};

// Writes one occurrence several times; says "count extra" of what is there then.
std::string after(const std::vector<Given>& given) {
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  Batch batch;
  add_call(batch, writer, "a");
  EXPECT_TRUE(writer.write(batch));
  const TraceId trace = *writer.trace("u", "f", "{}");
  for (const Given& g : given)
    EXPECT_TRUE(
        writer.add_occurrences({{FormId{1}, SourceId{0}, MachineId{0}, trace, "", "", g.count, g.extra, g.raised}}));
  EXPECT_TRUE(writer.commit());
  Reader reader = open_reader(folder.file("s.db"));
  const auto rows = reader.occurrences(*reader.forms(ConfigId{1}));
  EXPECT_EQ(rows->size(), 1u);
  const std::int64_t raised = rows->front().raised;
  return std::to_string(rows->front().count) + (raised > 0 ? ", raised " + std::to_string(raised) : "") + " " +
         rows->front().extra;
}

TEST(WriterOccurrences, TheLargerCountStaysWhateverTheOrder) {
  EXPECT_EQ(after({{3, ""}, {5, ""}, {4, ""}}), "5 ");
  EXPECT_EQ(after({{3, ""}, {3, ""}}), "3 ");
  EXPECT_EQ(after({{kUncounted, ""}, {0, ""}}), "0 ");
  EXPECT_EQ(after({{0, ""}, {kUncounted, ""}}), "0 ");
  EXPECT_EQ(after({{kUncounted, ""}, {kUncounted, ""}}), "-1 ");
}

TEST(WriterOccurrences, OfTwoExtrasTheLargerStaysWhateverTheOrder) {
  EXPECT_EQ(after({{1, "{\"a\": 1}"}, {1, ""}}), "1 {\"a\": 1}");
  EXPECT_EQ(after({{1, ""}, {1, "{\"a\": 1}"}}), "1 {\"a\": 1}");
  std::vector<Given> given{{2, "{\"b\": 1}"}, {7, ""}, {kUncounted, "{\"a\": 1}"}};
  std::sort(given.begin(), given.end(), [](const Given& a, const Given& b) { return a.count < b.count; });
  do {
    EXPECT_EQ(after(given), "7 {\"b\": 1}");
  } while (std::next_permutation(given.begin(), given.end(),
                                 [](const Given& a, const Given& b) { return a.count < b.count; }));
}

TEST(WriterOccurrences, TheLargerNumberOfRaisedCallsStaysWhateverTheOrder) {
  EXPECT_EQ(after({{3, "", 1}, {3, "", 1}}), "3, raised 1 ");
  EXPECT_EQ(after({{3, "", 0}, {3, "", 2}, {3, "", 1}}), "3, raised 2 ");
  EXPECT_EQ(after({{3, "", 3}, {kUncounted, "", 0}}), "3, raised 3 ");
  EXPECT_EQ(after({{5, "", 1}, {4, "", 4}}), after({{4, "", 4}, {5, "", 1}}));
  EXPECT_EQ(after({{5, "", 1}, {4, "", 4}}), "5, raised 4 ");
}

TEST(WriterOccurrences, OfTwoExamplesTheLargerStaysWhateverTheOrder) {
  const auto example_of = [](const std::vector<const char*>& given) {
    const TestFolder folder;
    Writer writer = begin(folder.file("s.db"));
    Batch batch;
    add_call(batch, writer, "a");
    EXPECT_TRUE(writer.write(batch));
    for (const char* error : given) EXPECT_TRUE(writer.add_examples({{FormId{1}, error}}));
    EXPECT_TRUE(writer.commit());
    return open_reader(folder.file("s.db")).forms(ConfigId{1})->front().error;
  };
  EXPECT_EQ(example_of({}), "");
  EXPECT_EQ(example_of({"b\né", "a", "", "b"}), "b\né");
  EXPECT_EQ(example_of({"", "b", "b", "a", "b\né"}), "b\né");
}

// ---- traces: what files say about one trace is united
// ----------------------------------------------------------------

std::string facts_after(const std::vector<std::pair<const char*, const char*>>& given) {
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  for (const auto& [format, facts] : given) EXPECT_TRUE(writer.trace("u", format, facts));
  EXPECT_TRUE(writer.commit());
  return traces_of(folder.file("s.db")).at(0);
}

TEST(WriterTraces, FactsAreUnitedInAnyOrder) {
  std::vector<std::pair<std::string, std::string>> given{{"master", R"({"b": "2", "a": "1"})"},
                                                         {"per-op", R"({"a": "0", "c": "é"})"},
                                                         {"master", R"({"b": "3"})"},
                                                         {"x", "{}"}};
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  std::sort(given.begin(), given.end());
  int orders = 0;
  do {
    const std::string uid = "u" + std::to_string(orders++);
    for (const auto& [format, facts] : given) ASSERT_TRUE(writer.trace(uid, format, facts));
  } while (std::next_permutation(given.begin(), given.end()));
  ASSERT_TRUE(writer.commit());
  const auto lines = traces_of(folder.file("s.db"));
  ASSERT_EQ(lines.size(), 24u);
  for (const std::string& line : lines)
    EXPECT_EQ(line.substr(line.find(' ')), R"( master {"a": "0", "b": "2", "c": "\u00e9"})");
}

TEST(WriterTraces, SayingItAgainChangesNothing) {
  const char* facts = R"({"b": "2", "a": "1"})";
  const std::string once = facts_after({{"f", facts}});
  EXPECT_EQ(once, R"(u f {"a": "1", "b": "2"})");
  EXPECT_EQ(facts_after({{"f", facts}, {"f", facts}, {"f", "{}"}}), once);
}

TEST(WriterTraces, UnitingPartsFirstGivesTheSame) {  // (a b) c = a (b c), where a united pair is itself a text of facts
  const char *a = R"({"k": "2", "x": "1"})", *b = R"({"k": "1", "y": "1"})", *c = R"({"k": "3", "z": "1"})";
  const auto united = [](const char* left, const char* right) {
    return facts_after({{"f", left}, {"f", right}}).substr(4);
  };
  EXPECT_EQ(united(united(a, b).c_str(), c), united(a, united(b, c).c_str()));
}

TEST(Writer, SourcesAndMachinesAreInterned) {
  const TestFolder folder;
  Writer writer = begin(folder.file("s.db"));
  const SourceId source = *writer.source({"t.py [HF_MODEL:m]", "t.py", "m", "m"});
  EXPECT_EQ(*writer.source({"t.py [HF_MODEL:m]", "t.py", "m", "m"}), source);
  EXPECT_NE(*writer.source({"u.py", "u.py", "", "u"}), source);
  EXPECT_EQ(*writer.source({"", "", "", ""}), SourceId{0});
  const MachineId machine = *writer.machine("{\"a\": 1}", "A x1");
  EXPECT_EQ(*writer.machine("{\"a\": 1}", "A x1"), machine);
  EXPECT_EQ(*writer.machine("", ""), MachineId{0});
}

TEST(Lookup, FindsWhatIsThere) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  EXPECT_FALSE(Lookup::open(path, 100)->has_value());  // no store, no error
  {
    Writer writer = begin(path);
    Batch batch;
    add_call(batch, writer, "a");
    add_call(batch, writer, "b");
    ASSERT_TRUE(writer.write(batch));
    ASSERT_TRUE(writer.commit());
  }
  auto lookup = *Lookup::open(path, 100);
  ASSERT_TRUE(lookup);
  const auto form = *lookup->form(fingerprint("b"));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->form.value, 2);
  EXPECT_EQ(form->configuration.value, 2);
  EXPECT_EQ(form->unparsed, 1);
  EXPECT_EQ(form->unknown_names, 2);
  EXPECT_EQ(form->duplicate_keys, 3);
  EXPECT_FALSE(lookup->form(fingerprint("c"))->has_value());
  EXPECT_EQ((*lookup->configuration(key("a")))->value, 1);
  EXPECT_FALSE(lookup->configuration(key("c"))->has_value());
}

TEST(Lookup, SeesTheStoreAsItWas) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  ASSERT_TRUE(begin(path).commit());
  auto lookup = *Lookup::open(path, 100);
  ASSERT_TRUE(lookup);
  EXPECT_FALSE(lookup->configuration(key("a"))->has_value());  // its view begins here
  Writer writer = begin(path);
  Batch batch;
  add_call(batch, writer, "a");
  ASSERT_TRUE(writer.write(batch));
  ASSERT_TRUE(writer.commit());
  EXPECT_FALSE(lookup->configuration(key("a"))->has_value());
  EXPECT_TRUE((*Lookup::open(path, 100))->configuration(key("a"))->has_value());
}

}  // namespace
}  // namespace opwright::store

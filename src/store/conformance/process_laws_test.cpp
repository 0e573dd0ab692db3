// Several writers, readers beside them, processes that are killed, stores of older versions, and large things.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "store/conformance/killed_process.h"
#include "store/conformance/store_under_test.h"
#include "store/test_runs.h"

namespace opwright::store {
namespace {

class ProcessLaws : public StoreLaws {
 protected:
  // One configuration of this name in a transaction of its own.
  static Status import_one(Store& store, const std::string& name, int wait_ms = 20000) {
    OPWRIGHT_TRY_ASSIGN(const auto writer, store.writer(wait_ms, kIdentity));
    Batch batch;
    add_call(batch, *writer, name);
    const FormId form = batch.forms.front().id;
    OPWRIGHT_TRY(writer->write(batch));
    OPWRIGHT_TRY_ASSIGN(const TraceId trace, writer->trace({name, "f", "{}"}));
    OPWRIGHT_TRY(writer->add_occurrences(std::vector<NewOccurrence>{{form, {0}, {0}, trace, "", "", 1, ""}}));
    return writer->commit();
  }
};

TEST_P(ProcessLaws, WritersTakeTurnsAndLoseNothing) {
  constexpr int kWriters = 3, kEach = 12;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; i < kEach; ++i) {
        const Status done = import_one(*store(), std::to_string(w) + "." + std::to_string(i));
        ASSERT_TRUE(done) << done.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reader()->totals()->configurations, kWriters * kEach);
  EXPECT_EQ(traces().size(), std::size_t{kWriters * kEach});
}

TEST_P(ProcessLaws, AReaderBesideAWriterNeitherWaitsNorSeesHalves) {
  ASSERT_TRUE(import_one(*store(), "first"));
  const auto writer = begin();
  Batch batch;
  add_call(batch, *writer, "second");
  ASSERT_TRUE(writer->write(batch));
  const auto during = store()->reader(0);
  ASSERT_TRUE(during) << during.error().message;
  EXPECT_EQ((*during)->totals()->configurations, 1);
  EXPECT_EQ((*during)->forms(*(*during)->candidates({}))->size(), 1u);
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ((*during)->totals()->configurations, 1);  // to its end
  EXPECT_EQ(reader()->totals()->configurations, 2);
}

TEST_P(ProcessLaws, ResultsAreWrittenBetweenTransactionsAndWaitForOne) {
  const auto results_writer = this->results_writer();
  ASSERT_TRUE(results_writer->begin(run_named("one")));
  auto writer = begin();
  std::thread waits([&] { EXPECT_TRUE(results_writer->add("one", at(0))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(results()->done("one")->empty());
  ASSERT_TRUE(writer->commit());
  waits.join();
  EXPECT_EQ(results()->done("one")->size(), 1u);
}

// A process that imports, one transaction after the other, says which are acknowledged, and is killed in the middle of
// one: those are there whole, and nothing of any other.
TEST_P(ProcessLaws, AKilledImportLeavesNothing) {
  for (const int kill_after : {1, 4, 9}) {
    start_anew();
    const std::int64_t last = last_before_kill(kill_after, [&](std::int64_t i, const Acknowledge& acknowledge) {
      if (!import_one(*store(), std::to_string(i))) return false;
      acknowledge();
      auto half = store()->writer(1000, kIdentity);  // begun and written, never committed
      if (!half) return false;
      Batch batch;
      add_call(batch, **half, "half " + std::to_string(i));
      if (!(*half)->write(batch)) return false;
      usleep(2000);
      return true;
    });
    const auto reader = this->reader();
    const auto forms = *reader->forms(*reader->candidates({}));
    ASSERT_GE(static_cast<std::int64_t>(forms.size()), last + 1);  // one more may be committed and not yet said
    ASSERT_LE(static_cast<std::int64_t>(forms.size()), last + 2);
    for (const FormRow& form : forms) EXPECT_EQ(form.text.find("half"), std::string::npos) << form.text;
    EXPECT_EQ(reader->occurrences(forms)->size(), forms.size());
    EXPECT_TRUE(import_one(*store(), "afterwards"));
  }
}

TEST_P(ProcessLaws, OlderStoresAreReadAsTheyLie) {
  ASSERT_FALSE(GetParam().older.empty());
  for (const auto& [version, make] : GetParam().older) {
    const auto place = make();
    const std::string before = place->bytes();
    const auto content = content_of(*place->store());
    EXPECT_FALSE(content.empty());
    EXPECT_EQ(place->bytes(), before) << version;
  }
}

TEST_P(ProcessLaws, OlderStoresAreBroughtUpToDate) {
  for (const auto& [version, make] : GetParam().older) {
    const auto place = make();
    const auto before = content_of(*place->store());
    const auto writer = *place->store()->writer(100, kIdentity);
    ASSERT_TRUE(writer->commit()) << version;
    auto after = content_of(*place->store());
    EXPECT_EQ(after, before) << version;
    const auto old = *(*place->store()->reader(100))->candidates({});
    ASSERT_TRUE(import_one(*place->store(), "new"));
    const auto reader = *place->store()->reader(100);
    EXPECT_EQ(reader->candidates({})->size(), old.size() + 1) << version;
    // Nobody knows the facts of what was there before there were any, so no question about facts excludes it.
    if (version >= "v7") continue;
    const std::uint64_t no_fact = 99;
    EXPECT_EQ(*reader->candidates(std::vector<Way>{{{}, {{{}, {{no_fact, 1, 1}}}}}}), old) << version;
  }
}

TEST_P(ProcessLaws, LargeAndOddThingsAreKept) {
  const std::string large(5 << 20, 'x'), odd("quote ' \" null \0 line\n \xc3\xa9 \xff", 27);
  {
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    batch.forms.front().text = large;
    add_call(batch, *writer, "b");
    batch.forms.back().text = odd;
    batch.forms.back().op = "ttnn::" + std::string(3000, 'o');
    add_call(batch, *writer, "c");
    batch.forms.back().text = "";
    ASSERT_TRUE(writer->write(batch));
    const auto source = *writer->source({large, "p", "h", "m"});
    const auto trace = *writer->trace({"u", "f", "{\"k\": \"" + std::string(100000, 'v') + "\"}"});
    ASSERT_TRUE(writer->add_occurrences(std::vector<NewOccurrence>{
        {batch.forms.front().id, source, {0}, trace, odd.substr(0, 5), "", INT64_MAX, large, INT64_MAX}}));
    ASSERT_TRUE(writer->commit());
  }
  const auto reader = this->reader();
  const auto forms = *reader->forms(*reader->candidates({}));
  ASSERT_EQ(forms.size(), 3u);
  EXPECT_EQ(forms[0].text, large);
  EXPECT_EQ(forms[1].text, odd);
  EXPECT_EQ(forms[1].op.size(), 3006u);
  EXPECT_EQ(forms[2].text, "");
  const auto rows = *reader->occurrences(forms);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].source, large);
  EXPECT_EQ(rows[0].extra, large);
  EXPECT_EQ(rows[0].count, INT64_MAX);
  EXPECT_GT(reader->traces()->front().facts.size(), 100000u);
}

OPWRIGHT_FOR_ALL_STORES(ProcessLaws);

}  // namespace
}  // namespace opwright::store

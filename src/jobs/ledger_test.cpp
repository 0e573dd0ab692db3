#include "jobs/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_folder.h"
#include "store/store.h"
#include "store/test_calls.h"

namespace opwright::jobs {
namespace {

// One observation of form 1, with one sighting.
struct Seen {
  std::int64_t count = 1, raised = 0;
  std::string_view error;
  std::string_view trace = "u", hash;
};

void add(Ledger& ledger, const Seen& seen) {
  Observed observed;
  observed.config_hash = seen.hash;
  Sighting sighting;
  sighting.source = "t.py";
  sighting.trace_uid = seen.trace;
  sighting.count = seen.count;
  sighting.raised = seen.raised;
  sighting.error = seen.error;
  observed.sightings.push_back(sighting);
  ledger.add(FormId{1}, observed);
}

std::string told(const Ledger::Calls& calls) {
  return std::to_string(calls.calls) + " calls, " + std::to_string(calls.raised) + " raised, " +
         std::to_string(calls.uncounted) + " uncounted";
}

// The inputs one after the other; "calls, raised" of the ledger, and what a store then holds.
std::string after(const std::vector<std::vector<Seen>>& inputs) {
  Ledger ledger;
  for (const auto& input : inputs) {
    for (const Seen& seen : input) add(ledger, seen);
    ledger.settle();
  }
  const TestFolder folder;
  {
    const auto writer = *store::open_writer(folder.file("s.db"), 100, store::kIdentity);
    store::Batch batch;
    store::add_call(batch, *writer, "a");
    EXPECT_TRUE(writer->write(batch));
    EXPECT_TRUE(ledger.write(*writer));
    EXPECT_TRUE(writer->commit());
  }
  const auto reader = *store::open_reader(folder.file("s.db"), 100);
  const auto operations = reader->operations();
  EXPECT_EQ(operations->at(0).calls, ledger.calls().calls);
  EXPECT_EQ(operations->at(0).raised, ledger.calls().raised);
  const std::string error = reader->forms(ConfigId{1})->at(0).error;
  return told(ledger.calls()) + (error.empty() ? "" : ": " + error);
}

TEST(Ledger, WhatRaisedAddsUpInOneInputAndNotInTwo) {
  EXPECT_EQ(after({{{}, {1, 1}, {1, 1}, {}}}), "4 calls, 2 raised, 0 uncounted");
  EXPECT_EQ(after({{{}, {1, 1}}, {{}, {1, 1}}}), "2 calls, 1 raised, 0 uncounted");
  EXPECT_EQ(after({{{}, {1, 1}}, {{}, {1, 1}, {1, 1}}}), "3 calls, 2 raised, 0 uncounted");
  EXPECT_EQ(after({{{1, 1}}, {{1, 1, "", "v"}}}), "2 calls, 2 raised, 0 uncounted");  // two traces
}

TEST(Ledger, ACopyWithAHashThatDoesNotTellAddsNothing) {
  EXPECT_EQ(after({{{3, 2}}, {{3, 0, "", "u", "h"}}}), "3 calls, 2 raised, 0 uncounted");
  EXPECT_EQ(after({{{3, 0, "", "u", "h"}}, {{3, 2}}}), "3 calls, 2 raised, 0 uncounted");
}

TEST(Ledger, WhatRaisedWasCalled) {
  EXPECT_EQ(after({{{kUncounted}}}), "1 calls, 0 raised, 1 uncounted");
  EXPECT_EQ(after({{{kUncounted, 2}}}), "2 calls, 2 raised, 0 uncounted");
  EXPECT_EQ(after({{{kUncounted}, {kUncounted, 1}}}), "1 calls, 1 raised, 0 uncounted");
}

TEST(Ledger, OneExampleStaysWhateverTheOrder) {
  std::vector<std::vector<Seen>> inputs{{{1, 1, "A: one"}, {1, 1, "B: two"}}, {{1, 1, "B: three"}}, {{1, 1}}};
  std::vector<std::size_t> order{0, 1, 2};
  do {
    const auto turned = {inputs[order[0]], inputs[order[1]], inputs[order[2]]};
    EXPECT_EQ(after(turned), "2 calls, 2 raised, 0 uncounted: B: two");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Ledger, ALongErrorIsCutAndSaysSo) {
  EXPECT_EQ(cut_error(""), "");
  const std::string fits(kLongestError, 'x');
  EXPECT_EQ(cut_error(fits), fits);
  const std::string cut = cut_error(fits + "y");
  EXPECT_EQ(cut.size(), kLongestError);
  EXPECT_TRUE(cut.ends_with("x… (2049 bytes)")) << cut.substr(2000);
  EXPECT_EQ(cut_error(cut), cut);                    // a store that is merged is not cut again
  for (std::size_t shift = 0; shift < 4; ++shift) {  // never inside a character
    std::string long_text(shift, 'x');
    while (long_text.size() < 3000) long_text += "\xF0\x9F\x9A\x80";
    const std::string short_text = cut_error(long_text);
    EXPECT_LE(short_text.size(), kLongestError);
    EXPECT_EQ((short_text.find("\xE2\x80\xA6") - shift) % 4, 0u);
  }
  const std::string example = after({{{1, 1, std::string_view(cut)}, {1, 1, "a"}}});
  EXPECT_NE(example.find(cut), std::string::npos);
}

}  // namespace
}  // namespace opwright::jobs

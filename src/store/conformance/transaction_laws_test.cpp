// One writer, one transaction; what is known before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "store/conformance/store_under_test.h"

namespace opwright::store {
namespace {

using TransactionLaws = StoreLaws;

TEST_P(TransactionLaws, WhatIsCommittedIsThere) {
  {
    const auto writer = begin();
    EXPECT_EQ(writer->next_configuration().value, 1);
    Batch batch;
    add_call(batch, *writer, "a");
    add_call(batch, *writer, "b", "ttnn.matmul");
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit());
  }
  const Totals totals = *reader()->totals();
  EXPECT_EQ(totals.configurations, 2);
  EXPECT_EQ(totals.forms, 2);
  EXPECT_EQ(totals.operations, 2);
  const auto next = begin();
  EXPECT_EQ(next->next_configuration().value, 3);
  EXPECT_EQ(next->next_form().value, 3);
}

TEST_P(TransactionLaws, WhatIsNotCommittedIsGone) {
  {
    const auto writer = begin();
    ASSERT_TRUE(writer->trace({"u", "master", "{}"}));
    ASSERT_TRUE(writer->commit());
  }
  {
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    ASSERT_TRUE(writer->write(batch));
  }  // the destructor rolls back
  EXPECT_EQ(reader()->totals()->configurations, 0);
  EXPECT_EQ(traces(), std::vector<std::string>{"u master {}"});  // the file that was there stays
}

TEST_P(TransactionLaws, DiscardAfterCommitDoesNothing) {
  const auto writer = begin();
  ASSERT_TRUE(writer->trace({"u", "f", "{}"}));
  ASSERT_TRUE(writer->commit());
  writer->discard();
  EXPECT_EQ(traces().size(), 1u);
}

TEST_P(TransactionLaws, AStoreOfAnotherIdentityIsRefused) {
  ASSERT_TRUE(begin()->commit());
  const auto other = store()->writer(100, "keys 2, terms 1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(other.error().message.find("keys 2"), std::string::npos);
  EXPECT_TRUE(store()->writer(100, kIdentity));  // and left usable
}

TEST_P(TransactionLaws, TheSameKeyTwiceIsAnError) {
  const auto writer = begin();
  Batch batch;
  add_call(batch, *writer, "a");
  add_call(batch, *writer, "a");
  EXPECT_FALSE(writer->write(batch));
}

TEST_P(TransactionLaws, ASecondWriterWaits) {
  const auto first = begin();
  ASSERT_TRUE(first->trace({"first", "f", "{}"}));
  const auto impatient = store()->writer(20, kIdentity);
  ASSERT_FALSE(impatient);
  EXPECT_EQ(impatient.error().code, ErrorCode::kLocked);
  std::thread second([&] {
    const auto writer = begin(20000);
    EXPECT_TRUE(writer->trace({"second", "f", "{}"}));
    EXPECT_TRUE(writer->commit());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(first->commit());
  second.join();
  EXPECT_EQ(traces(), (std::vector<std::string>{"first f {}", "second f {}"}));
}

TEST_P(TransactionLaws, AWriterThatWaitedForADiscardedFileStartsAnew) {
  const auto first = begin();
  std::thread second([&] {
    const auto writer = begin(20000);
    EXPECT_TRUE(writer->trace({"second", "f", "{}"}));
    EXPECT_TRUE(writer->commit());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  first->discard();
  second.join();
  EXPECT_EQ(traces(), std::vector<std::string>{"second f {}"});
}

TEST_P(TransactionLaws, SourcesAndMachinesAreInterned) {
  const auto writer = begin();
  const SourceId source = *writer->source({"t.py [HF_MODEL:m]", "t.py", "m", "m"});
  EXPECT_EQ(*writer->source({"t.py [HF_MODEL:m]", "t.py", "m", "m"}), source);
  EXPECT_NE(*writer->source({"u.py", "u.py", "", "u"}), source);
  EXPECT_EQ(*writer->source({"", "", "", ""}), SourceId{0});
  const MachineId machine = *writer->machine({"{\"a\": 1}", "A x1"});
  EXPECT_EQ(*writer->machine({"{\"a\": 1}", "A x1"}), machine);
  EXPECT_EQ(*writer->machine({"", ""}), MachineId{0});
}

TEST_P(TransactionLaws, FindsWhatIsThere) {
  EXPECT_EQ(*store()->lookup(100), nullptr);  // no store, no error
  {
    const auto writer = begin();
    Batch batch;
    add_call(batch, *writer, "a");
    add_call(batch, *writer, "b");
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit());
  }
  const auto lookup = *store()->lookup(100);
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

TEST_P(TransactionLaws, SeesTheStoreAsItWas) {
  ASSERT_TRUE(begin()->commit());
  const auto lookup = *store()->lookup(100);
  ASSERT_TRUE(lookup);
  EXPECT_FALSE(lookup->configuration(key("a"))->has_value());  // its view begins here
  const auto writer = begin();
  Batch batch;
  add_call(batch, *writer, "a");
  ASSERT_TRUE(writer->write(batch));
  ASSERT_TRUE(writer->commit());
  EXPECT_FALSE(lookup->configuration(key("a"))->has_value());
  EXPECT_TRUE((*store()->lookup(100))->configuration(key("a"))->has_value());
}

OPWRIGHT_FOR_ALL_STORES(TransactionLaws);

}  // namespace
}  // namespace opwright::store

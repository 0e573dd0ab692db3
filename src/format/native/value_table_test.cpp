#include "format/native/value_table.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "format/native/native_trace.h"
#include "format/native/test_trace.h"
#include "format/native/value_json.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

NativeTrace opened(TestTrace& trace) {
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  EXPECT_TRUE(read);
  return *std::move(read);
}

std::string json(NativeTrace& trace, std::uint32_t id) {
  const NativeValue* value = trace.values().value(id);
  return value != nullptr ? to_json(*value) : "not whole";
}

TEST(ValueTable, EveryKind) {
  TestTrace trace;
  const std::uint32_t spec = trace.value(structure("ttnn.Tensor", {{"shape", numbers({1, 2})}}));
  const std::uint32_t all = trace.value(
      list({none(), boolean(true), boolean(false), integer(-5), integer(INT64_MIN), "I" + text("123456789012345678901"),
            real(0.5), string("a\"b"), "y" + text("\x01z"), list({integer(1)}, '('), dict({{"k", none()}}),
            enumerator("Layout", "TILE"), opaque("Semaphore", "at 0x1"), tensor(spec), ref(spec)}));
  NativeTrace read = opened(trace);
  EXPECT_EQ(
      json(read, all),
      R"([null, true, false, -5, -9223372036854775808, 123456789012345678901, 0.5, "a\"b", {"$bytes": "017a"}, [1], )"
      R"({"k": null}, "Layout.TILE", {"$type": "Semaphore", "text": "at 0x1"}, )"
      R"({"$type": "ttnn.Tensor", "shape": [1, 2]}, {"$type": "ttnn.Tensor", "shape": [1, 2]}])");
  EXPECT_TRUE(read.damage().empty());
}

TEST(ValueTable, Calls) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("ttnn.f", {integer(1), integer(2)}, {{"k", string("v")}});
  NativeTrace read = opened(trace);
  const NativeValue* value = read.values().value(call);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->text, "ttnn.f");
  EXPECT_EQ(value->positional, 2u);
  ASSERT_EQ(value->items.size(), 3u);
  EXPECT_EQ(value->names[0], "k");
  EXPECT_EQ(value->items[2]->text, "v");
}

TEST(ValueTable, TextsBelongToIds) {
  TestTrace trace;
  const std::uint32_t a = trace.shown(enumerator("DataType", "BFLOAT16"), "DataType.BFLOAT16", true);
  const std::uint32_t holder = trace.value(list({ref(a)}));
  NativeTrace read = opened(trace);
  ASSERT_NE(read.values().printed(a), nullptr);
  EXPECT_EQ(read.values().printed(a)->text, "DataType.BFLOAT16");
  EXPECT_TRUE(read.values().printed(a)->has_dict);
  EXPECT_EQ(read.values().printed(holder), nullptr);
  EXPECT_EQ(read.values().value(holder)->items[0]->id, a);  // so its text is found where it is used
}

TEST(ValueTable, IdsInAnyOrderAndWithGaps) {
  TestTrace trace;
  trace.value_at(7, list({ref(9), ref(3)}));
  trace.value_at(3, integer(3));
  trace.value_at(9, integer(9));
  trace.value_at(4'000'000'000, ref(7));
  NativeTrace read = opened(trace);
  EXPECT_EQ(json(read, 7), "[9, 3]");
  EXPECT_EQ(json(read, 4'000'000'000), "[9, 3]");
  EXPECT_EQ(json(read, 8), "not whole");
  EXPECT_TRUE(read.damage().empty());
}

TEST(ValueTable, WhatContainsItselfIsNotWhole) {
  TestTrace trace;
  trace.value_at(1, list({ref(1)}));
  trace.value_at(2, list({ref(3)}));
  trace.value_at(3, list({ref(2)}));
  trace.value_at(4, integer(4));
  trace.value_at(5, list({ref(4), ref(1)}));
  NativeTrace read = opened(trace);
  for (const std::uint32_t id : {1, 2, 3, 5}) EXPECT_EQ(json(read, id), "not whole") << id;
  EXPECT_EQ(json(read, 4), "4");
  EXPECT_EQ(read.damage().entries().at("damaged_value").count, 4u);
  EXPECT_EQ(read.damage().entries().at("damaged_value").example, "value 1: it contains itself, by value 1");
}

TEST(ValueTable, NeitherDepthNorDoublingIsBelieved) {
  TestTrace trace;
  std::string deep = integer(1);
  for (int i = 0; i < 30'000; ++i) deep = list({deep});
  const std::uint32_t inline_deep = trace.value(deep.substr(0, 60'000));
  trace.next_chunk();
  std::uint32_t chain = trace.value(integer(1));
  for (int i = 0; i < 1000; ++i) chain = trace.value(list({ref(chain)}));
  std::uint32_t doubled = trace.value(string(std::string(1000, 'x')));
  for (int i = 0; i < 60; ++i) doubled = trace.value(list({ref(doubled), ref(doubled)}));
  NativeTrace read = opened(trace);
  EXPECT_EQ(json(read, inline_deep), "not whole");
  EXPECT_EQ(json(read, chain), "not whole");
  EXPECT_EQ(json(read, doubled), "not whole");
}

TEST(ValueTable, CountsAndBytesThatCannotBe) {
  TestTrace trace;
  const std::vector<std::string> wrong{"[" + varint(1ULL << 40),
                                       "{" + varint(3) + integer(1),
                                       "S" + text("T") + varint(5),
                                       "s" + varint(100) + "x",
                                       "i" + std::string(11, '\xff'),
                                       "d1234",
                                       "?",
                                       "N" + std::string("N"),
                                       list({"C" + varint(1) + varint(0) + varint(0)}),
                                       "C" + varint(77) + varint(0) + varint(0),
                                       tensor(500),
                                       ref(0)};
  for (const std::string& encoded : wrong) trace.value(encoded);
  trace.value_at(900, integer(1));
  trace.value_at(900, integer(2));
  NativeTrace read = opened(trace);
  for (std::uint32_t id = 1; id <= wrong.size(); ++id) EXPECT_EQ(json(read, id), "not whole") << id;
  EXPECT_EQ(json(read, 900), "1");
  EXPECT_EQ(read.damage().entries().at("damaged_value").count, wrong.size() + 1);
}

TEST(ValueTable, ForgettingFreesAndDecodesAgain) {
  TestTrace trace;
  const std::uint32_t a = trace.value(list({integer(1), integer(2)}));
  NativeTrace read = opened(trace);
  EXPECT_EQ(json(read, a), "[1, 2]");
  read.values().forget(0);
  EXPECT_EQ(json(read, a), "[1, 2]");
}

TEST(ValueTable, AValueOfTooManyPartsIsNotWhole) {
  TestTrace trace;
  std::uint32_t last = trace.value(list(std::vector<std::string>(1000, none())));
  const std::uint32_t million = trace.value(list(std::vector<std::string>(1000, ref(last))));
  const std::uint32_t three = trace.value(list(std::vector<std::string>(3, ref(million))));
  NativeTrace read = opened(trace);
  EXPECT_TRUE(read.values().is_whole(million));
  EXPECT_FALSE(read.values().is_whole(three));
  EXPECT_NE(read.damage().entries().at("damaged_value").example.find("more than 2097152 parts"), std::string::npos);
}

TEST(ValueTable, OnlyACallIsTheValueOfACall) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("ttnn.f", {integer(1)}, {{"a", none()}});
  const std::uint32_t other = trace.value(list({integer(1)}));
  const std::uint32_t to_call = trace.value(ref(call));
  const std::uint32_t around = trace.value(list({ref(call)}));
  NativeTrace read = opened(trace);
  ASSERT_NE(read.values().call(call), nullptr);
  EXPECT_EQ(read.values().call(call)->text, "ttnn.f");
  for (const std::uint32_t id : {other, to_call, around, 0u, 999u}) EXPECT_EQ(read.values().call(id), nullptr) << id;
}

TEST(NativeTrace, RecordsBesideCallsAreLimited) {
  TestTrace trace;
  for (int i = 0; i < 100; ++i) trace.note("kind", "text");
  const std::string bytes = trace.bytes();
  EXPECT_TRUE(NativeTrace::from_bytes(bytes, "t.opwt"));
  const ScopedLimits small({.distinct = 10});
  const auto refused = NativeTrace::from_bytes(bytes, "t.opwt");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--max-distinct"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace opwright::format

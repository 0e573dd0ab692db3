#include "format/native/call_stream.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "format/native/test_trace.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

NativeTrace opened(TestTrace& trace) {
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  EXPECT_TRUE(read);
  return *std::move(read);
}

std::string order(NativeTrace& trace) {  // numbers in the order of their ends; `-` for those that never ended
  CallStream stream(trace);
  std::string text;
  while (const NativeCall* call = stream.next())
    text += (text.empty() ? "" : " ") + std::to_string(call->seq) + (call->finished ? "" : "-");
  return text;
}

std::string begin_order(NativeTrace& trace) {
  CallsInOrder calls(trace);
  std::string text;
  while (const NativeCall* call = calls.next()) text += (text.empty() ? "" : " ") + std::to_string(call->seq);
  return text;
}

TEST(CallStream, EverythingOfACall) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({32, 32}), after = ttnn.spec({32, 64});
  const std::uint32_t error = trace.value(structure("error", {{"type", string("E")}}));
  const std::uint32_t result = trace.value(list({tensor(spec), tensor(spec)}));
  const std::uint32_t call_value = trace.call_value("ttnn.f", {tensor(spec)}, {{"b", tensor(spec)}});
  trace.context({{"test", string("t")}, {"phase", string("p")}, {"label", string("l")}});
  const std::uint64_t outer = trace.begin(call_value, {{40, 1}, {3, 0}});
  const std::uint64_t inner = trace.begin(call_value, {{40, 1}, {4, 0}}, outer, 250);
  trace.end(inner,
            {.error = error,
             .result = result,
             .tensors = {{50, 1, 7, 4096, 40}, {51, 2}},
             .writes = {{1, after, 9}},
             .frees = {0},
             .thinned = true},
            125);
  trace.end(outer);
  const std::string hash(16, '\x11');
  trace.record(10, varint(inner) + varint(1) + varint(4 | 2) + hash);
  trace.record(10, varint(inner) + varint(0) + varint(1 | 8) + varint(result));
  trace.record(9, hash + varint(after) + "content");
  trace.record(12, varint(inner) + string("graph"));
  NativeTrace read = opened(trace);
  CallStream stream(read);
  const NativeCall* call = stream.next();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->seq, inner);
  EXPECT_EQ(call->parent, outer);
  EXPECT_EQ(call->thread, 100u);
  EXPECT_EQ(call->start_ns, 1250);
  EXPECT_EQ(call->duration_ns, 125);
  EXPECT_EQ(call->call, call_value);
  EXPECT_EQ(call->error, error);
  EXPECT_TRUE(call->finished && call->thinned);
  ASSERT_EQ(call->tensors.size(), 2u);
  EXPECT_EQ(call->tensors[0].id, 40u);
  EXPECT_EQ(call->tensors[1].id, 4u);
  EXPECT_EQ(call->tensors[0].version, 1u);
  ASSERT_EQ(call->results.size(), 2u);
  EXPECT_EQ(call->results[0].id, 50u);
  EXPECT_EQ(call->results[0].storage, 7u);
  EXPECT_EQ(call->results[0].address, 4096u);
  EXPECT_EQ(call->results[0].view_of, 40u);
  EXPECT_EQ(call->results[1].id, 51u);
  ASSERT_EQ(call->writes.size(), 1u);
  EXPECT_EQ(call->writes[0].spec, after);
  EXPECT_EQ(call->writes[0].version, 9u);
  EXPECT_EQ(call->frees, std::vector<std::uint32_t>{0});
  const CallContext context = read.context(call->context);
  EXPECT_EQ(context.test, "t");
  EXPECT_EQ(context.phase, "p");
  EXPECT_EQ(context.label, "l");
  const std::vector<TensorData> data = read.data_of(inner);
  ASSERT_EQ(data.size(), 2u);
  EXPECT_TRUE(data[0].after && !data[0].of_result && data[0].hash);
  ASSERT_NE(read.blob(*data[0].hash), nullptr);
  EXPECT_EQ(read.blob(*data[0].hash)->bytes, "content");
  EXPECT_TRUE(data[1].of_result && data[1].sketch == result);
  EXPECT_EQ(text_of(read.values().decode(read.device_of(inner))), "graph");
  EXPECT_EQ(read.device_of(outer), "");
  EXPECT_EQ(stream.next()->seq, outer);
  EXPECT_EQ(stream.next(), nullptr);
  EXPECT_TRUE(read.damage().empty());
}

TEST(CallStream, LanesAreMergedByTheTimeOfTheEnds) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  const std::uint64_t a = trace.begin(f, {}, 0, 100);  // ends at 1100
  trace.end(a, {}, 1000);
  const std::uint64_t b = trace.begin(f, {}, 0, 1);  // ends at 1111
  trace.end(b, {}, 10);
  trace.lane(1, 200);
  const std::uint64_t c = trace.begin(f, {}, 0, 50);  // ends at 60
  trace.end(c, {}, 10);
  const std::uint64_t d = trace.begin(f, {}, 0, 1000);  // ends at 1105
  trace.end(d, {}, 45);
  NativeTrace read = opened(trace);
  EXPECT_EQ(order(read), "3 1 4 2");
  EXPECT_EQ(begin_order(read), "1 2 3 4");
}

TEST(CallStream, CallsInsideOthersThatNeverEnd) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  const std::uint64_t outer = trace.begin(f);
  trace.begin(f, {}, outer);      // 2: dropped, ends with the one around it
  trace.begin(f, {}, outer + 1);  // 3: inside it
  trace.end(outer);
  trace.begin(f);  // 4: dropped; its thread begins another one outside of it
  trace.call(f);   // 5
  trace.begin(f);  // 6: the process ended
  NativeTrace read = opened(trace);
  EXPECT_EQ(order(read), "3- 2- 1 4- 5 6-");
  EXPECT_EQ(begin_order(read), "1 2 3 4 5 6");
  EXPECT_TRUE(read.damage().empty());
}

TEST(CallStream, NestingOverChunksAndALaneThatChangesHands) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  const std::uint64_t outer = trace.begin(f);
  for (int i = 0; i < 3; ++i) {
    trace.next_chunk();
    trace.end(trace.begin(f, {}, outer));
  }
  trace.end(outer);
  trace.record(13, varint(777));
  trace.call(f);
  NativeTrace read = opened(trace);
  EXPECT_EQ(order(read), "2 3 4 1 5");
  CallsInOrder calls(read);
  std::vector<std::uint64_t> threads;
  while (const NativeCall* call = calls.next()) threads.push_back(call->thread);
  EXPECT_EQ(threads, (std::vector<std::uint64_t>{100, 100, 100, 100, 777}));
}

TEST(CallStream, ALongOpenCallHoldsNothingButItself) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  trace.begin(f);  // never ends, in a lane of its own
  trace.lane(1, 200);
  for (int i = 0; i < 100; ++i) trace.call(f);
  NativeTrace read = opened(trace);
  CallStream stream(read);
  std::size_t calls = 0;
  while (stream.next() != nullptr) ++calls;
  EXPECT_EQ(calls, 101u);
}

TEST(CallStream, NumbersThatCannotBe) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  trace.call(f);
  trace.record(4, varint(1'000'000) + varint(1) + varint(0));  // ends a call before all calls
  trace.call(f);                                               // behind it in its chunk
  trace.next_chunk();
  trace.record(4, varint(0) + varint(1) + varint(0));                                   // ends a call that has ended
  trace.record(3, varint(1) + varint(1) + varint(0) + varint(f) + varint(1ULL << 60));  // that many tensors
  trace.next_chunk();
  trace.call(f);
  NativeTrace read = opened(trace);
  EXPECT_EQ(order(read), "1 3");
  EXPECT_EQ(read.damage().entries().count("damaged_record"), 1u);
  EXPECT_EQ(read.damage().entries().at("damaged_record").count, 2u);
  EXPECT_EQ(read.damage().entries().count("end_without_begin"), 1u);
}

TEST(CallStream, TicksOfAnyRate) {
  TestTrace trace;
  const std::uint32_t f = trace.call_value("f", {});
  trace.call(f);
  trace.header.ticks_per_second = 2'000'000'000;
  EXPECT_EQ(CallStream(*std::make_unique<NativeTrace>(opened(trace))).next()->start_ns, 500);
  for (const std::uint64_t rate : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
    trace.header.ticks_per_second = rate;
    NativeTrace read = opened(trace);
    EXPECT_GE(CallStream(read).next()->start_ns, 0) << rate;
    EXPECT_GE(read.ns_of(UINT64_MAX), 0) << rate;
    EXPECT_LE(read.ns_of(0), 0) << rate;
  }
}

TEST(CallStream, CallsThatNeverEndAreNotHeldAllAtOnce) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("ttnn.f", {});
  constexpr std::size_t kCalls = 20'000;
  for (std::size_t i = 1; i <= kCalls; ++i) {
    if (trace.room() < 100) trace.next_chunk();
    trace.begin(call);
  }
  NativeTrace read = opened(trace);
  for (const bool in_order : {false, true}) {
    CallStream stream(read);
    CallsInOrder ordered(read);
    std::uint64_t expected = 0;
    while (const NativeCall* next = in_order ? ordered.next() : stream.next()) {
      EXPECT_EQ(next->seq, ++expected);
      EXPECT_FALSE(next->finished);
    }
    EXPECT_EQ(expected, kCalls);
  }
}

TEST(CallStream, CallsInsideCallsWithoutEndAreDamage) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("ttnn.f", {});
  std::uint64_t parent = 0;
  for (int i = 0; i < 12'000; ++i) {
    if (trace.room() < 100) trace.next_chunk();
    parent = trace.begin(call, {}, parent);
  }
  NativeTrace read = opened(trace);
  CallStream stream(read);
  std::size_t calls = 0;
  while (stream.next() != nullptr) ++calls;
  EXPECT_EQ(calls, 10'000u);
  EXPECT_EQ(read.damage().entries().at("damaged_record").count, 2000u);
}

TEST(CallStream, CallsInOrderHoldNoMoreThanTheLimit) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("ttnn.f", {});
  const std::uint64_t outer = trace.begin(call);
  for (int i = 0; i < 10; ++i) trace.end(trace.begin(call, {}, outer));
  trace.end(outer);
  NativeTrace read = opened(trace);
  EXPECT_EQ(begin_order(read), "1 2 3 4 5 6 7 8 9 10 11");
  const ScopedLimits small({.distinct = 4});
  EXPECT_EQ(begin_order(read), "2 3 4 5 6 7 8 1 9 10 11");
  EXPECT_NE(read.damage().entries().at("order_lost").example.find("--max-distinct"), std::string::npos);
}

TEST(CallStream, AbsurdTimesDoNotOverflow) {
  TestTrace trace;
  trace.header.start_unix_ns = UINT64_MAX;
  trace.header.ticks_per_second = 1;
  trace.header.calls = UINT64_MAX - 10;
  const std::uint32_t call = trace.call_value("ttnn.f", {});
  trace.end(trace.begin(call, {}, 0, UINT64_MAX / 2), {}, UINT64_MAX / 2);
  NativeTrace read = opened(trace);
  CallStream stream(read);
  const NativeCall* next = stream.next();
  ASSERT_NE(next, nullptr);
  EXPECT_GT(read.start_unix_ns() + next->start_ns + next->duration_ns, 0);
  EXPECT_EQ(read.header().calls, 0u);
  EXPECT_EQ(read.damage().entries().count("damaged_record"), 1u);
}

}  // namespace
}  // namespace opwright::format

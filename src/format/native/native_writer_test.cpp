#include "format/native/native_writer.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/native/call_stream.h"
#include "format/native/test_trace.h"
#include "format/native/trim.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

NativeTrace opened(std::string bytes) {
  auto read = NativeTrace::from_bytes(std::move(bytes), "t.opwt");
  EXPECT_TRUE(read);
  return *std::move(read);
}

// Calls as lines: who, where, with what.
std::string lines(NativeTrace& trace) {
  CallStream stream(trace);
  std::string all;
  while (const NativeCall* call = stream.next()) {
    const NativeValue* value = trace.values().value(call->call);
    all += std::to_string(call->seq) + "<" + std::to_string(call->parent) + " " +
           std::string(value != nullptr ? value->text : "?") + " @" + std::to_string(call->start_ns) + "+" +
           std::to_string(call->duration_ns) + " t" + std::to_string(call->thread) + " " +
           std::string(trace.context(call->context).phase);
    for (const TensorUse& use : call->tensors) all += " #" + std::to_string(use.id);
    for (const TensorResult& result : call->results) all += " ->#" + std::to_string(result.id);
    if (call->raised()) all += " raised";
    if (!call->finished) all += " unfinished";
    all += "\n";
  }
  EXPECT_TRUE(trace.damage().empty()) << trace.damage().entries().begin()->second.example;
  return all;
}

std::string trimmed(TestTrace& trace, const CallFilter& filter, TrimReport* report = nullptr) {
  NativeTrace read = opened(trace.bytes());
  MemoryOutput memory;
  const auto done = trim(read, filter, memory);
  EXPECT_TRUE(done);
  if (report != nullptr) *report = *done;
  return std::move(memory).take();
}

TEST(NativeWriter, ManyCallsOverManyChunks) {
  MemoryOutput memory;
  NativeWriter writer(memory, {.pid = 7, .start_unix_ns = 5, .start_ticks = 100, .ticks_per_second = 1'000'000'000});
  capture::Encoder name, call;
  name.string("ttnn.f");
  call.tag(capture::Tag::kCall);
  call.varint(writer.value(name.view()));
  call.varint(0);
  call.varint(0);
  const ValueId value = writer.value(call.view());
  EXPECT_EQ(writer.value(call.view()), value);
  NativeCall at;
  at.call = value;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    at.seq = i;
    at.thread = 70 + i / 4000;
    at.tensors = {{i * 3, 0}, {i, 1}};
    at.results = {{i * 3 + 1, 0, 9, 0, 0}};
    at.result = value;
    writer.begin(at, 100 + i * 10);
    writer.end(at, 104 + i * 10);
  }
  writer.blob({1, 2}, value, std::string(300'000, 'x'));
  ASSERT_TRUE(writer.finish());
  NativeTrace read = opened(std::move(memory).take());
  EXPECT_EQ(read.header().calls, 10'000u);
  EXPECT_EQ(read.blob({1, 2})->bytes.size(), 300'000u);
  CallStream stream(read);
  std::uint64_t expected = 0;
  while (const NativeCall* seen = stream.next()) {
    ++expected;
    ASSERT_EQ(seen->seq, expected);
    ASSERT_EQ(seen->thread, 70 + expected / 4000);
    ASSERT_EQ(seen->start_ns, static_cast<std::int64_t>(expected * 10));
    ASSERT_EQ(seen->duration_ns, 4);
    ASSERT_EQ(seen->tensors[0].id, expected * 3);
    ASSERT_EQ(seen->results[0].id, expected * 3 + 1);
  }
  EXPECT_EQ(expected, 10'000u);
  EXPECT_TRUE(read.damage().empty());
}

TEST(NativeWriter, AFileIsThereWholeOrNotAtAll) {
  const TestFolder folder;
  {
    auto file = FileOutput::create(folder.file("a.opwt"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append("half"));
  }
  EXPECT_EQ(folder.entries(), 0u);
  {
    auto file = FileOutput::create(folder.file("a.opwt"));
    ASSERT_TRUE(file->append("whole"));
    ASSERT_TRUE(file->overwrite_front("W"));
    ASSERT_TRUE(file->commit());
  }
  EXPECT_EQ(content_of(folder.file("a.opwt")), "Whole");
  EXPECT_FALSE(FileOutput::create(folder.file("no/such/folder")));
}

// One of everything, in two lanes.
TestTrace rich() {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({1, 32});
  const std::uint32_t error = trace.value(structure("error", {{"type", string("E")}}));
  const std::uint32_t add = trace.call_value("ttnn.add", {tensor(spec)});
  const std::uint32_t linear = trace.call_value("ttnn.linear", {tensor(spec)});
  const std::uint32_t result = trace.value(tensor(spec));
  trace.fact("uid", string("u"));
  trace.test("t", "passed");
  trace.note("k", "text");
  trace.record(5, varint(1) + varint(0) + varint(11) + varint(0) + varint(0) + varint(spec));
  trace.context({{"phase", string("prefill")}});
  trace.call(add, {{1, 0}}, {.result = result, .tensors = {{2, 0, 12, 4096}}});  // 1
  trace.context({{"phase", string("decode")}});
  const std::uint64_t outer = trace.begin(linear, {{2, 0}});                                               // 2
  const std::uint64_t inner = trace.begin(add, {{2, 0}}, outer);                                           // 3
  trace.end(trace.begin(linear, {{2, 0}}, inner), {.result = result, .tensors = {{4, 0}}, .frees = {0}});  // 4
  trace.end(inner, {.error = error});
  trace.end(outer, {.result = result, .tensors = {{5, 0}}});
  trace.record(9, std::string(16, 'h') + varint(spec) + "content");
  trace.record(10, varint(2) + varint(0) + varint(4) + std::string(16, 'h'));
  trace.record(12, varint(2) + string("graph"));
  trace.lane(1, 200);
  trace.call(add, {{5, 0}});      // 5
  trace.begin(linear, {{5, 0}});  // 6
  return trace;
}

TEST(Trim, EverythingIsACopy) {
  TestTrace trace = rich();
  NativeTrace before = opened(trace.bytes());
  NativeTrace after = opened(trimmed(trace, {}));
  EXPECT_EQ(lines(after), lines(before));
  EXPECT_EQ(after.facts().size(), before.facts().size() + 1);
  EXPECT_EQ(after.fact_text("trimmed"), "everything");
  EXPECT_EQ(after.tests().size(), 1u);
  EXPECT_EQ(after.notes().size(), 1u);
  ASSERT_EQ(after.data_of(2).size(), 1u);
  EXPECT_EQ(after.blob(*after.data_of(2)[0].hash)->bytes, "content");
  EXPECT_EQ(text_of(after.values().decode(after.device_of(2))), "graph");
}

TEST(Trim, KeptCallsGoToTheNextKeptOneOutwards) {
  TestTrace trace = rich();
  TrimReport report;
  NativeTrace read = opened(trimmed(trace, {.ops = {"linear"}}, &report));
  EXPECT_EQ(lines(read),
            "6<0 ttnn.linear @2500+0 t200  #5 unfinished\n"
            "4<2 ttnn.linear @4500+500 t100 decode #2 ->#4\n"
            "2<0 ttnn.linear @2500+3500 t100 decode #2 ->#5\n");
  EXPECT_EQ(report.kept, 3u);
  EXPECT_EQ(report.parents_dropped, 1u);
  EXPECT_EQ(report.dropped.at("ttnn.add"), 3u);
  EXPECT_EQ(read.header().calls_filtered, 3u);
  ASSERT_EQ(read.unrecorded().size(), 1u);
  EXPECT_EQ(read.unrecorded()[0].op, "ttnn.add");
  EXPECT_EQ(read.fact_text("trimmed"), "--only linear");
}

TEST(Trim, TensorsOfDroppedCallsStayKnown) {
  TestTrace trace = rich();
  NativeTrace read = opened(trimmed(trace, {.ops = {"ttnn.lin*"}}));
  std::vector<std::uint64_t> known;
  for (LaneCursor& lane : lanes_of(read)) {
    for (auto event = lane.next(); event != LaneCursor::Event::kNone; event = lane.next()) {
      if (event == LaneCursor::Event::kTensor) known.push_back(lane.tensor().tensor.id);
    }
  }
  EXPECT_EQ(known, std::vector<std::uint64_t>{2});  // made by call 1; 5 is made by a kept call, 1 is not used
}

TEST(Trim, ByPhaseRangeAndLabel) {
  TestTrace trace = rich();
  const auto kept = [&](const CallFilter& filter) {
    NativeTrace read = opened(trimmed(trace, filter));
    std::string numbers;
    CallsInOrder calls(read);
    while (const NativeCall* call = calls.next()) numbers += std::to_string(call->seq);
    return numbers;
  };
  EXPECT_EQ(kept({.phases = {"decode"}}), "234");
  EXPECT_EQ(kept({.phases = {"pre*"}}), "1");
  EXPECT_EQ(kept({.labels = {"x"}}), "");
  CallFilter range;
  ASSERT_TRUE(parse_range("2:5", range));
  EXPECT_EQ(kept(range), "2345");
  range.ops = {"add"};
  EXPECT_EQ(kept(range), "35");
}

TEST(CallFilter, Ranges) {
  const auto range = [](const char* text) {
    CallFilter filter;
    return parse_range(text, filter) ? std::to_string(filter.first) + "-" + std::to_string(filter.last) : "wrong";
  };
  EXPECT_EQ(range("3:7"), "3-7");
  EXPECT_EQ(range("3"), "3-3");
  EXPECT_EQ(range("3:"), "3-18446744073709551615");
  EXPECT_EQ(range(":7"), "0-7");
  for (const char* text : {"", ":", "7:3", "a", "3-7", "-1", "3:7:9"}) EXPECT_EQ(range(text), "wrong") << text;
}

TEST(CallFilter, Globs) {
  EXPECT_TRUE(glob_matches("*matmul*", "ttnn.matmul"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "axxbyyc"));
  EXPECT_FALSE(glob_matches("a*b", "axxc"));
  EXPECT_FALSE(glob_matches("", "a"));
}

}  // namespace
}  // namespace opwright::format

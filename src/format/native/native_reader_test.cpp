#include "format/native/native_reader.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/native/test_trace.h"
#include "format/read_trace.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

TestSink read(const std::string& bytes, const ReadOptions& options = {}) {
  const TestFolder folder;
  TestSink sink;
  const Status status = read_trace(folder.write("trace.opwt", bytes), options, sink);
  EXPECT_TRUE(status) << status.error().message;
  return sink;
}

TEST(NativeReader, ACallBecomesWhatItsPerOpFileWouldBecome) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({1, 1, 32, 64});
  const std::uint32_t memory = ttnn.memory("L1");
  const std::uint32_t add =
      trace.call_value("ttnn.add", {tensor(spec), tensor(spec)}, {{"memory_config", ref(memory)}});
  const std::uint32_t result = trace.value(tensor(spec));
  trace.call(add, {{1, 0}, {2, 0}}, {.result = result, .tensors = {{3, 0, 9}}});
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 1u);
  const std::string spec_text =
      R"({"layout":"Layout.TILE","memory_config":{"buffer_type":"BufferType.DRAM","hash":1242192138459492916,)"
      R"("interleaved":true,"is_sharded":false,"memory_layout":"TensorMemoryLayout.INTERLEAVED","shard_spec":null},)"
      R"("original_dtype":"DataType.BFLOAT16","original_shape":[1,1,32,64],"storage_type":"StorageType.DEVICE",)"
      R"("tensor_placement":{"distribution_shape":"[1]","mesh_device_shape":"[1, 1]","placement":"['PlacementReplicate']"},)"
      R"("type":"ttnn.Tensor"})";
  EXPECT_EQ(sink.calls[0].op, "ttnn.add");
  EXPECT_EQ(sink.calls[0].arguments,
            R"({"arg0":)" + spec_text + R"(,"arg1":)" + spec_text +
                R"(,"memory_config":{"buffer_type":"BufferType.L1","hash":1242192138459492916,"interleaved":true,)"
                R"("is_sharded":false,"memory_layout":"TensorMemoryLayout.INTERLEAVED","shard_spec":null}})");
  EXPECT_EQ(sink.left_out.at("return values"), 1u);
  EXPECT_EQ(sink.lost_kinds(), "");
  ASSERT_EQ(sink.ended.size(), 1u);
  EXPECT_EQ(sink.ended[0].format, "native");
  EXPECT_TRUE(sink.ended[0].uid.starts_with("content:"));
}

TEST(NativeReader, CallsOfOneConfigurationAreCounted) {
  TestTrace trace;
  const std::uint32_t a = trace.call_value("ttnn.add", {integer(1), real(0.5)});
  const std::uint32_t b = trace.call_value("ttnn.add", {integer(2), real(0.5)});
  const std::uint32_t error =
      trace.value(structure("error", {{"type", string("RuntimeError")}, {"message", string("bad")}}));
  for (int i = 0; i < 5; ++i) trace.call(a);
  trace.call(b);
  trace.call(a, {}, {.error = error});
  trace.context({{"test", string("t.py::x")}});
  trace.call(a);
  trace.fact("uid", string("run-1"));
  trace.fact("script", string("model.py"));
  trace.fact("machine", dict({{"board_type", string("Wormhole")}, {"card_count", integer(1)}}));
  trace.fact("versions", dict({{"ttnn", string("0.81.1")}}));
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 3u);
  EXPECT_EQ(sink.calls[0].arguments, R"({"arg0":1,"arg1":0.5})");
  ASSERT_EQ(sink.calls[0].sightings.size(), 1u);
  EXPECT_EQ(sink.calls[0].sightings[0].count, 6);
  EXPECT_EQ(sink.calls[0].sightings[0].source, "model.py");
  EXPECT_EQ(sink.calls[0].sightings[0].trace_uid, "run-1/4711-1700000000000000000");
  EXPECT_EQ(sink.calls[0].sightings[0].machine, R"({"board_type": "Wormhole", "card_count": 1})");
  EXPECT_EQ(sink.calls[1].sightings[0].count, 1);
  EXPECT_EQ(sink.calls[2].sightings[0].source, "t.py::x");
  EXPECT_EQ(sink.ended[0].uid, "run-1/4711-1700000000000000000");
  EXPECT_EQ(sink.calls[0].sightings[0].raised, 1);
  EXPECT_EQ(sink.calls[0].sightings[0].error, "RuntimeError: bad");
  EXPECT_EQ(sink.calls[1].sightings[0].raised, 0);
}

TEST(NativeReader, TestsThatDidNotPassAreLeftOut) {
  TestTrace trace;
  const std::uint32_t add = trace.call_value("ttnn.add", {integer(1)});
  for (const char* test : {"a", "b", "c", "d"}) {
    trace.context({{"test", string(test)}});
    trace.call(add);
  }
  trace.test("a", "passed");
  trace.test("b", "failed");
  trace.test("c", "skipped");  // d has no outcome: it is taken, as a folder without a status is
  const TestSink sink = read(trace.bytes());
  EXPECT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.left_out.at("tests that failed"), 1u);
  EXPECT_EQ(sink.left_out.at("tests that were skipped"), 1u);
  EXPECT_EQ(sink.left_out.at("calls of tests that did not pass"), 2u);
  EXPECT_EQ(read(trace.bytes(), {.include_failed = true}).calls.size(), 4u);
}

TEST(NativeReader, TheQueueOfATopLevelCallIsNoArgument) {
  TestTrace trace;
  const std::uint32_t call =
      trace.call_value("ttnn.add", {}, {{"queue_id", integer(0)}, {"cq_id", integer(1)}, {"dim", integer(2)}});
  const std::uint64_t outer = trace.begin(call);
  trace.end(trace.begin(call, {}, outer));
  trace.end(outer);
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].arguments, R"({"cq_id":1,"dim":2,"queue_id":0})");
  EXPECT_EQ(sink.calls[1].arguments, R"({"cq_id":1,"dim":2})");
}

TEST(NativeReader, ArgumentsAreAsTheCallLeftThem) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t before = ttnn.spec({1, 32}), after = ttnn.spec({1, 64});
  const std::uint32_t call = trace.call_value("ttnn.fill_", {tensor(before), tensor(before)});
  trace.call(call, {{1, 0}, {2, 0}});
  trace.call(call, {{1, 0}, {2, 0}}, {.writes = {{1, after, 1}}});
  trace.call(call, {{1, 1}, {2, 0}}, {.writes = {{1, after, 2}}});
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].arguments.find("[1,64]"), std::string::npos);
  EXPECT_NE(sink.calls[1].arguments.find("[1,64]"), std::string::npos);
  EXPECT_NE(sink.calls[1].arguments.find("[1,32]"), std::string::npos);
  EXPECT_EQ(sink.calls[1].sightings[0].count, 2);
}

TEST(NativeReader, AFreedTensorHasNoDevice) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t call = trace.call_value("ttnn.deallocate", {tensor(ttnn.spec({1, 32}))});
  trace.call(call, {{1, 0}});
  trace.call(call, {{2, 0}}, {.frees = {0}});
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].sightings[0].machine,
            R"({"device_count": 1, "device_ids": [0], "mesh_device_shape": [1, 1]})");
  EXPECT_EQ(sink.calls[1].sightings[0].machine, R"({"mesh_device_shape": [1, 1]})");
}

TEST(NativeReader, WhatPerOpFilesLoseStaysDistinct) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::string grid = ttnn.grid(7, 3);
  const std::uint32_t orientation = ttnn.enum_value("ShardOrientation", "ROW_MAJOR");
  const auto nd = [&](std::int64_t height) {
    return ref(trace.value(
        structure("NdShardSpec",
                  {{"shard_shape", numbers({1, height, 32})}, {"grid", grid}, {"orientation", ref(orientation)}})));
  };
  const std::string tall = nd(64), flat = nd(32);
  const std::uint32_t a = ttnn.memory("L1", "ND_SHARDED", none(), tall),
                      b = ttnn.memory("L1", "ND_SHARDED", none(), flat);
  const std::uint32_t tile = trace.value(structure("Tile", {{"tile_shape", numbers({16, 32})}}));
  const std::uint32_t usual = trace.value(structure("Tile", {{"tile_shape", numbers({32, 32})}}));
  for (const std::uint32_t memory : {a, b}) trace.call(trace.call_value("ttnn.x", {ref(memory)}));
  const std::uint32_t one = ttnn.spec({32, 32}, "BFLOAT16", "TILE", 0, {{"tile", ref(tile)}});
  const std::uint32_t other = ttnn.spec({32, 32}, "BFLOAT16", "TILE", 0, {{"tile", ref(usual)}});
  for (const std::uint32_t spec : {one, other}) trace.call(trace.call_value("ttnn.y", {tensor(spec)}), {{1, 0}});
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 4u);
  EXPECT_NE(
      sink.calls[0].arguments.find(
          R"("nd_shard_spec":{"grid":[{"end":{"x":7,"y":3},"start":{"x":0,"y":0}}],"orientation":"ShardOrientation.ROW_MAJOR","shard_shape":[1,64,32]})"),
      std::string::npos)
      << sink.calls[0].arguments;
  EXPECT_NE(sink.calls[0].arguments, sink.calls[1].arguments);
  EXPECT_NE(sink.calls[2].arguments.find(R"("tile":[16,32])"), std::string::npos) << sink.calls[2].arguments;
  EXPECT_EQ(sink.calls[3].arguments.find("tile\""), std::string::npos);
}

TEST(NativeReader, ACallThatNeverEndedCountsAndIsNoted) {
  TestTrace trace;
  const std::uint32_t add = trace.call_value("ttnn.add", {integer(1)});
  trace.call(add);
  trace.begin(add);
  const TestSink sink = read(trace.bytes());
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].sightings[0].count, 2);
  EXPECT_EQ(sink.left_out.at("ends of calls that never ended"), 1u);
  EXPECT_EQ(sink.lost_kinds(), "");
}

TEST(NativeReader, CallsWithoutTheirValueAreLostByCount) {
  TestTrace trace;
  const std::uint32_t add = trace.call_value("ttnn.add", {integer(1)});
  const std::uint32_t broken = trace.call_value("ttnn.add", {ref(999)});
  trace.call(add);
  for (int i = 0; i < 3; ++i) trace.call(broken);
  trace.call(4242);
  const TestSink sink = read(trace.bytes());
  EXPECT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.lost_kinds(), "damaged_value missing_value");
}

TEST(NativeReader, WhatTheRecorderDidNotKeepIsTold) {
  TestTrace trace;
  const std::uint32_t name = trace.value(string("ttnn.add"));
  trace.record(14, varint(0) + varint(name) + varint(10));
  trace.record(14, varint(0) + varint(name) + varint(12));
  trace.record(14, varint(1) + varint(name) + varint(3));
  trace.record(14, varint(2) + varint(name) + varint(2));
  trace.header.state = static_cast<std::uint32_t>(capture::State::kDiskFull);
  const TestSink sink = read(trace.bytes());
  EXPECT_EQ(sink.left_out.at("calls that the recorder was told to leave out"), 12u);
  EXPECT_EQ(sink.left_out.at("calls that the recorder left out to save time"), 3u);
  ASSERT_EQ(sink.lost_kinds(), "calls_not_recorded");
  EXPECT_EQ(sink.losses[0].example, "the recorder could not keep 2 calls: there was no space left, e.g. 2 of ttnn.add");
}

TEST(NativeReader, FoldersOfProcessesAndCompressedFiles) {
  TestTrace trace;
  trace.call(trace.call_value("ttnn.add", {integer(1)}));
  const TestFolder folder;
  folder.write("run/trace-1.opwt", trace.bytes());
  folder.write("run/trace-2.opwt", "OPWTRACE, but not more than that");
  folder.write("run/notes.txt", "");
  TestSink sink;
  ASSERT_TRUE(read_trace(folder.path(), {}, sink));
  EXPECT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.lost_kinds(), "unreadable_file");
}

TEST(NativeReader, ProcessesOfARunAreTracesOfTheirOwn) {
  TestTrace trace;
  trace.call(trace.call_value("ttnn.add", {integer(1)}));
  trace.fact("uid", string("run-1"));
  EXPECT_EQ(read(trace.bytes()).ended[0].uid, "run-1/4711-1700000000000000000");
  trace.header.pid = 0;  // converted from another format
  EXPECT_EQ(read(trace.bytes()).ended[0].uid, "run-1");
}

}  // namespace
}  // namespace opwright::format

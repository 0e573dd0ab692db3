#include "format/jsonl/jsonl_reader.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

TestSink read_path(const std::string& path) {
  auto input = Input::open(path);
  EXPECT_TRUE(input);
  TestSink sink;
  const Status done = read_op_jsonl(*input, path, sink);
  EXPECT_TRUE(done) << done.error().message;
  return sink;
}

TestSink read_text(std::string_view text) {
  const TestFolder folder;
  return read_path(folder.write("t.jsonl", text));
}

TEST(JsonlReader, ALineIsACall) {
  const TestSink sink = read_text(
      R"({"op_name": "ttnn.add", "inputs": [1], "kwargs": {"b": 1, "a": 2}, "output": 5, "test_nodeid": "t.py::x", "run_id": "r"})"
      "\n\n  \n"
      R"({"op_name": "ttnn.relu", "inputs": []})");
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kOpJsonl);
  EXPECT_EQ(sink.calls[0].arguments, R"({"inputs": [1], "kwargs": {"a": 2, "b": 1}})");
  EXPECT_EQ(sink.calls[0].sightings.at(0).source, "t.py::x");
  EXPECT_EQ(sink.calls[0].sightings[0].trace_uid, "run_id:r");
  EXPECT_EQ(sink.calls[0].sightings[0].count, 1);
  EXPECT_EQ(sink.calls[1].arguments, R"({"inputs": [], "kwargs": {}})");
  EXPECT_EQ(sink.calls[1].sightings.at(0).trace_uid, "");
  EXPECT_EQ(sink.left_out.at("return values"), 1u);
  EXPECT_EQ(sink.lost_kinds(), "");
  EXPECT_EQ(sink.ended.at(0).format, "op-jsonl");
}

TEST(JsonlReader, ADamagedLineIsLostAndTheNextIsRead) {
  const std::string first = R"({"op_name": "a", "inputs": []})";
  const TestSink sink =
      read_text(first + "\n{\"op_name\": x}\n[1]\n{\"op_name\": \"b\"}\n{\"inputs\": []}\n" + first + "\n");
  EXPECT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.lost_kinds(), "damaged_line unknown_shape unknown_shape unknown_shape");
  EXPECT_EQ(sink.losses[0].offset, first.size() + 1 + 12);  // of the word that is wrong, in the file
  EXPECT_EQ(sink.losses[1].offset, first.size() + 1 + 15);  // of the line
  EXPECT_EQ(sink.calls[1].offset, sink.losses[3].offset + 15);
}

TEST(JsonlReader, CallsThatRaisedAreMarked) {
  const auto seen = [](std::string_view error) {
    const TestSink sink =
        read_text("{\"op_name\": \"a\", \"inputs\": [], \"output\": 1, \"error\": " + std::string(error) + "}\n");
    EXPECT_EQ(sink.calls.size(), 1u) << error;
    EXPECT_EQ(sink.left_out.at("return values"), 1u);
    EXPECT_EQ(sink.lost_kinds(), "");
    const TestSink::Seen& one = sink.calls.at(0).sightings.at(0);
    return std::to_string(one.raised) + " of " + std::to_string(one.count) + " " + one.error;
  };
  EXPECT_EQ(seen("null"), "0 of 1 ");
  EXPECT_EQ(seen(R"({"type": "RuntimeError", "message": "TT_FATAL\né"})"), "1 of 1 RuntimeError: TT_FATAL\né");
  EXPECT_EQ(seen(R"("E: text")"), "1 of 1 E: text");
  EXPECT_EQ(seen(R"({"type": "E"})"), R"(1 of 1 {"type": "E"})");  // of another shape: as it is written
  EXPECT_EQ(seen(R"({"type": "E", "message": 7})"), R"(1 of 1 {"type": "E", "message": 7})");
  EXPECT_EQ(seen("[1, false]"), "1 of 1 [1, false]");
  EXPECT_EQ(seen(R"("")"), "1 of 1 ");  // it raised, and does not say what
}

TEST(JsonlReader, TheUidIsThatOfTheTextHoweverItIsPacked) {
  const TestSink plain = read_path(fixture_path("jsonl/ops.jsonl"));
  EXPECT_EQ(plain.calls.size(), 12u);
  for (const char* name : {"compressed/ops.jsonl.gz", "compressed/ops.jsonl.zst"}) {
    const TestSink packed = read_path(fixture_path(name));
    EXPECT_EQ(packed.ended.at(0).uid, plain.ended.at(0).uid) << name;
    EXPECT_EQ(packed.calls.size(), plain.calls.size());
    EXPECT_EQ(packed.bytes, plain.bytes);
  }
}

TEST(JsonlReader, ACutTailLosesOnlyItself) {
  const TestFolder folder;
  const std::string packed = fixture("compressed/ops.jsonl.gz");
  const TestSink sink = read_path(folder.write("cut.gz", packed.substr(0, packed.size() - 20)));
  EXPECT_GT(sink.calls.size(), 0u);
  EXPECT_EQ(sink.losses.back().kind, "cut_input");
  EXPECT_EQ(sink.ended.size(), 1u);
}

TEST(JsonlReader, EveryLossOfTheDamagedFixture) {
  const TestSink sink = read_path(fixture_path("jsonl/damaged.jsonl"));
  EXPECT_EQ(sink.calls.size(), 4u);
  EXPECT_EQ(sink.losses.size(), 5u);
}

}  // namespace
}  // namespace opwright::format

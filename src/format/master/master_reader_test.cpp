#include "format/master/master_reader.h"

#include <gtest/gtest.h>

#include <set>

#include "base/test_folder.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

Status read(std::string text, TestSink& sink) {
  text.reserve(text.size() + 64);
  return read_master(text, "m.json", sink);
}

// The calls of a master with one operation `ttnn.add` and these configurations.
TestSink configurations(const std::string& list) {
  TestSink sink;
  const Status done = read(R"({"operations": {"ttnn.add": {"configurations": [)" + list + "]}}}", sink);
  EXPECT_TRUE(done) << done.error().message;
  return sink;
}

TEST(MasterReader, ABareListIsTheArguments) {  // 1a
  const TestSink sink = configurations(R"([{"arg0": "1"}], [ ])");
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kEra1);
  EXPECT_EQ(sink.calls[0].op, "ttnn.add");
  EXPECT_EQ(sink.calls[0].arguments, R"([{"arg0": "1"}])");
  EXPECT_EQ(sink.calls[0].path, "m.json");
  ASSERT_EQ(sink.calls[0].sightings.size(), 1u);
  EXPECT_EQ(sink.calls[0].sightings[0].count, kUncounted);
  EXPECT_EQ(sink.lost_kinds(), "");
}

TEST(MasterReader, ArgumentsTellTheEra) {
  const TestSink sink = configurations(R"({"arguments": [{"arg0": "1"}], "source": "t.py"},
      {"config_id": 7, "config_hash": "ab", "sweep_source_hash": "cd", "arguments": {"arg0": 1}, "executions": [{"count": 3}],
       "traced_machine_info": {"board_type": "W"}}, {"arguments": {}, "config_hash": null})");
  ASSERT_EQ(sink.calls.size(), 3u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kEra1);
  EXPECT_EQ(sink.calls[0].sightings[0].source, "t.py");
  EXPECT_EQ(sink.calls[1].kind, FormKind::kEra2);
  EXPECT_EQ(sink.calls[1].config_hash, "ab");
  EXPECT_EQ(sink.calls[1].sweep_source_hash, "cd");
  EXPECT_EQ(sink.calls[1].hashed_machine, R"({"board_type": "W"})");
  EXPECT_EQ(sink.calls[1].sightings[0].count, 3);
  EXPECT_EQ(sink.calls[2].config_hash, "");
  EXPECT_EQ(sink.lost_kinds(), "");
}

TEST(MasterReader, AnOffsetIsThatOfTheConfiguration) {
  const std::string text = R"({"operations": {"ttnn.add": {"configurations": [ {"arguments": {}}, 3]}}})";
  TestSink sink;
  ASSERT_TRUE(read(text, sink));
  EXPECT_EQ(sink.calls[0].offset, text.find(R"({"arguments")"));
  EXPECT_EQ(sink.losses[0].offset, text.find("3]"));
}

TEST(MasterReader, WhatIsNotUnderstoodIsLostByNameAndTheRestIsRead) {
  const TestSink sink = configurations(R"(42, null, {"arguments": "x"}, {"source": "s"}, {"arguments": {}, "colour": 1},
                                          {"arguments": {}, "executions": 5}, {"arguments": {"arg0": 1}})");
  EXPECT_EQ(sink.lost_kinds(), "unknown_shape unknown_shape unknown_shape unknown_shape unknown_field unknown_shape");
  EXPECT_EQ(sink.calls.size(), 2u);
  EXPECT_NE(sink.losses[0].example.find("42"), std::string::npos);
  EXPECT_NE(sink.losses[4].example.find("colour"), std::string::npos);

  TestSink other;
  ASSERT_TRUE(read(R"({"operations": {"a": 3, "b": {"configurations": "x", "note": 1}}, "extra": [1]})", other));
  EXPECT_EQ(other.lost_kinds(), "unknown_shape unknown_shape unknown_field unknown_section");
}

TEST(MasterReader, RawCalls) {
  TestSink sink;
  ASSERT_TRUE(
      read(R"({"content": [{"operation": "ttnn::add", "arguments": [{"arg0": "1"}]}, {"operation": 3}, 4]})", sink));
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kEra1);
  EXPECT_EQ(sink.calls[0].op, "ttnn::add");
  EXPECT_EQ(sink.calls[0].sightings[0].count, 1);
  EXPECT_EQ(sink.lost_kinds(), "unknown_shape unknown_shape");
  EXPECT_EQ(sink.ended.at(0).format, "graph-serialized");
}

TEST(MasterReader, MetadataDescribesTheTraceItNames) {
  TestSink sink;
  ASSERT_TRUE(
      read(R"({"metadata": {"trace_uid": "u-1", "last_updated": "2026", "models": ["m"], "total_configurations": 3,
                       "software_versions": {"tt_kmd": "2.4"}}, "operations": {}})",
           sink));
  ASSERT_EQ(sink.described.size(), 1u);
  EXPECT_EQ(sink.described[0].uid, "u-1");
  using Facts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(sink.described[0].facts,
            (Facts{{"last_updated", "2026"}, {"total_configurations", "3"}, {"tt_kmd", "2.4"}}));
  ASSERT_EQ(sink.ended.size(), 1u);
  EXPECT_TRUE(sink.ended[0].uid.starts_with("content:")) << sink.ended[0].uid;
  EXPECT_EQ(sink.ended[0].format, "master");

  TestSink runs;
  ASSERT_TRUE(read(R"({"metadata": {"trace_run_ids": [25, 26]}, "operations": {}})", runs));
  EXPECT_EQ(runs.described.at(0).uid, "run:25,26");
}

TEST(MasterReader, TheSameTextHasTheSameUid) {
  TestSink first, second, third;
  ASSERT_TRUE(read(R"({"operations": {}})", first));
  ASSERT_TRUE(read(R"({"operations": {}})", second));
  ASSERT_TRUE(read(R"({"operations":  {}})", third));
  EXPECT_EQ(first.ended[0].uid, second.ended[0].uid);
  EXPECT_NE(first.ended[0].uid, third.ended[0].uid);
}

TEST(MasterReader, DamagedTextsAreErrorsAndEndNoTrace) {
  for (const char* text :
       {R"({"operations": {"ttnn.add": {"configurations": [{"arguments": {}})", R"({"operations": {}} x)",
        R"({"operations": [1]})", R"({"operations": {"a" 1}})", R"({"operations": {}, "metadata": {"a": x}})", R"([])",
        "{\"operations\": {\"\xff\": {}}}", R"({"operations": {"a": {"configurations": [{"arguments": {}, }]}}})"}) {
    TestSink sink;
    const Status done = read(text, sink);
    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().code, ErrorCode::kBadInput) << text;
    EXPECT_NE(done.error().message.find("m.json"), std::string::npos);
    EXPECT_TRUE(sink.ended.empty()) << text;
  }
  TestSink sink;
  EXPECT_EQ(read(R"({"metadata": {}})", sink).error().code, ErrorCode::kNotATrace);
}

TEST(MasterReader, ASkippedValueIsCheckedToo) {
  for (const char* field :
       {R"("config_id": 12abc)", R"("config_id": @!)", R"("config_hash": nul)", R"("other": {"a" 1})"}) {
    TestSink sink;
    EXPECT_FALSE(
        read(R"({"operations": {"a": {"configurations": [{"arguments": {}, )" + std::string(field) + "}]}}}", sink))
        << field;
  }
}

TEST(MasterReader, AnErrorOfTheSinkStopsTheReading) {
  TestSink sink;
  sink.stop_after = 1;
  const Status done = read(R"({"operations": {"a": {"configurations": [[], [], []]}}})", sink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "enough");
  EXPECT_EQ(sink.calls.size(), 1u);
}

TEST(MasterReader, FixturesOfEveryVariant) {
  struct Expected {
    const char* file;
    std::size_t calls;
    std::set<std::string> sources;
  };
  const std::string llm = "models/tiny_llm/demo/demo.py", cnn = "models/tiny_cnn/tests/test_cnn.py";
  const std::string tagged = llm + " [HF_MODEL:example-org/Tiny-LLM-96]";
  const std::string odd = "models/größe/模型/test_ü🚀.py::test_\"quoted\"[a\\b]";
  for (const Expected& expected : std::initializer_list<Expected>{{"era1_1a.json", 14, {""}},
                                                                  {"era1_1b.json", 11, {odd, cnn, llm, tagged}},
                                                                  {"era1_1d.json", 5, {odd, cnn, llm, tagged}},
                                                                  {"era2_g0.json", 7, {llm, tagged}},
                                                                  {"era2_g5.json", 15, {cnn, llm, tagged}},
                                                                  {"era2_hybrid.json", 2, {cnn, tagged}}}) {
    TestSink sink;
    const Status done = read(fixture(std::string("master/") + expected.file), sink);
    ASSERT_TRUE(done) << expected.file << done.error().message;
    EXPECT_EQ(sink.calls.size(), expected.calls) << expected.file;
    EXPECT_EQ(sink.lost_kinds(), "") << expected.file;
    std::set<std::string> sources;
    for (const auto& call : sink.calls) {
      for (const auto& seen : call.sightings) sources.insert(seen.source);
    }
    EXPECT_EQ(sources, expected.sources) << expected.file;
  }
}

}  // namespace
}  // namespace opwright::format

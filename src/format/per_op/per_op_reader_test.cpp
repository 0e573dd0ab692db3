#include "format/per_op/per_op_reader.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

std::string record(const std::string& op) {
  return R"({"operation_name": ")" + op + R"(", "args": [], "kwargs": {}, "return_value": 1})";
}

TestSink read(const std::string& folder, ReadOptions options = {}) {
  TestSink sink;
  const Status done = read_per_op_folder(folder, options, sink);
  EXPECT_TRUE(done) << done.error().message;
  return sink;
}

std::string ops(const TestSink& sink) {
  std::string text;
  for (const auto& call : sink.calls) text += (text.empty() ? "" : " ") + call.op;
  return text;
}

TEST(PerOpReader, FilesAreReadInTheOrderOfTheirNumbers) {
  const TestFolder folder;
  for (const char* name : {"10_c_1.json", "9_b_1.json", "100_d_1.json", "1_a_1.json"})
    folder.write(name, record(std::string(name).substr(std::string_view(name).find('_') + 1, 1)));
  folder.write("notes.txt", "x");
  folder.write("7.json", "x");
  const TestSink sink = read(folder.path());
  EXPECT_EQ(ops(sink), "a b c d");
  EXPECT_EQ(sink.files, 4u);
  EXPECT_EQ(sink.left_out.at("side files"), 2u);
  EXPECT_EQ(sink.left_out.at("return values"), 4u);
  EXPECT_EQ(sink.ended.at(0).format, "per-op");
  EXPECT_EQ(sink.calls[0].sightings.at(0).source, std::filesystem::path(folder.path()).filename());
  EXPECT_EQ(sink.calls[0].sightings[0].count, 1);
}

TEST(PerOpReader, MetadataNamesSourceMachineAndTrace) {
  const TestFolder folder;
  folder.write("1_a_1.json", record("a"));
  folder.write("_trace_metadata.json",
               R"({"test_source": "models/tt_transformers/demo/simple_text_demo.py", "trace_uid": "u",
      "machine_info": {"board_type": "W"}, "HF_MODEL": "m/L", "software_versions": {"tt_kmd": "2"}, "trace_count": 3})");
  const TestSink sink = read(folder.path());
  const auto& seen = sink.calls.at(0).sightings.at(0);
  EXPECT_EQ(seen.source, "models/tt_transformers/demo/simple_text_demo.py [HF_MODEL:m/L]");
  EXPECT_EQ(seen.machine, R"({"board_type": "W"})");
  EXPECT_EQ(seen.trace_uid, "u");
  EXPECT_EQ(sink.ended.at(0).uid, "u");
  using Facts = std::vector<std::pair<std::string, std::string>>;
  const Facts& facts = sink.ended[0].facts;
  EXPECT_NE(std::find(facts.begin(), facts.end(), Facts::value_type("tt_kmd", "2")), facts.end());
  EXPECT_NE(std::find(facts.begin(), facts.end(), Facts::value_type("trace_count", "3")), facts.end());
}

TEST(PerOpReader, TestsThatDidNotPassAreLeftOutUnlessAskedFor) {
  const TestSink sink = read(fixture_path("per_op/per_test"));
  EXPECT_EQ(ops(sink), "ttnn.relu ttnn.relu ttnn.from_torch ttnn.relu ttnn.softmax");
  EXPECT_EQ(sink.left_out.at("tests that failed"), 1u);
  EXPECT_EQ(sink.left_out.at("tests that were skipped"), 1u);
  EXPECT_EQ(sink.left_out.at("calls of tests that did not pass"), 1u);
  EXPECT_EQ(sink.lost_kinds(), "");
  EXPECT_EQ(read(fixture_path("per_op/per_test"), {.include_failed = true}).calls.size(), 6u);
}

TEST(PerOpReader, AnUnreadableStatusLosesTheTestNotTheRun) {
  const TestFolder folder;
  folder.write("a/_status.json", "{");
  folder.write("a/1_a_1.json", record("a"));
  folder.write("b/_status.json", R"({"status": "passed"})");
  folder.write("b/1_b_1.json", record("b"));
  const TestSink sink = read(folder.path());
  EXPECT_EQ(ops(sink), "b");
  EXPECT_EQ(sink.lost_kinds(), "unreadable_file");
}

TEST(PerOpReader, DamagedFilesAreLostAndTheRestIsRead) {
  const TestSink sink = read(fixture_path("per_op/damaged"));
  EXPECT_EQ(ops(sink), "ttnn.add ttnn.pad ttnn.sigmoid_accurate");
  EXPECT_EQ(sink.losses.size(), 5u);  // the empty metadata, and four records
  for (const auto& lost : sink.losses) EXPECT_FALSE(lost.example.empty());
  EXPECT_TRUE(sink.ended.at(0).uid.starts_with("content:"));
}

TEST(PerOpReader, TheContentNamesAFolderWithoutMetadata) {
  const TestFolder first, second;
  first.write("1_a_1.json", record("a"));
  second.write("1_a_1.json", record("a"));
  EXPECT_EQ(read(first.path()).ended.at(0).uid, read(second.path()).ended.at(0).uid);
  second.write("2_b_1.json", record("b"));
  EXPECT_NE(read(first.path()).ended.at(0).uid, read(second.path()).ended.at(0).uid);
}

TEST(PerOpReader, FoldersAreKnownByTheirContent) {
  for (const char* name : {"per_op/v0", "per_op/v3", "per_op/per_test", "per_op/preop"})
    EXPECT_TRUE(is_per_op_folder(fixture_path(name))) << name;
  EXPECT_FALSE(is_per_op_folder(fixture_path("master")));
  EXPECT_FALSE(is_per_op_folder(fixture_path("per_op")));
  EXPECT_FALSE(is_per_op_folder("/nonexistent"));
}

TEST(PerOpReader, EveryDialect) {
  for (const auto& [name, calls] : {std::pair{"v0", 6u}, {"v1", 8u}, {"v2", 11u}, {"v3", 12u}, {"preop", 8u}}) {
    const TestSink sink = read(fixture_path(std::string("per_op/") + name));
    EXPECT_EQ(sink.calls.size(), calls) << name;
    EXPECT_EQ(sink.lost_kinds(), "") << name;
  }
}

TEST(PerOpReader, OneFileAlone) {
  TestSink sink;
  ASSERT_TRUE(read_per_op_file(record("ttnn.add"), "1_x.json", sink));
  EXPECT_EQ(ops(sink), "ttnn.add");
  EXPECT_TRUE(sink.ended.at(0).uid.starts_with("content:"));
}

}  // namespace
}  // namespace opwright::format

#include "format/read_trace.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

constexpr const char* kMaster = R"({"operations": {"ttnn.add": {"configurations": [{"arguments": {}}]}}})";
// Wrong behind a whole configuration.
constexpr const char* kDamaged = R"({"operations": {"ttnn.add": {"configurations": [{"arguments": {}}]}, "b" 1}})";
constexpr const char* kRecord = R"({"operation_name": "ttnn.add", "args": [], "kwargs": {}})";
constexpr const char* kLine = R"({"op_name": "ttnn.add", "inputs": []})";
constexpr const char* kNode =
    R"([{"node_type": "function_start", "counter": 1, "params": {"name": "f"}, "arguments": ["1"]}])";

std::string format_of(const std::string& path) {
  TestSink sink;
  const Status done = read_trace(path, {}, sink);
  if (!done) return "error";
  EXPECT_EQ(sink.ended.size(), 1u) << path;
  EXPECT_EQ(sink.calls.size(), 1u) << path;
  return sink.ended.empty() ? "" : sink.ended[0].format;
}

Error error_of(const std::string& path) {
  TestSink sink;
  const Status done = read_trace(path, {}, sink);
  EXPECT_FALSE(done) << path;
  return done ? Error{ErrorCode::kUsage, ""} : done.error();
}

TEST(ReadTrace, TheContentTellsTheFormatNotTheName) {
  const TestFolder folder;
  EXPECT_EQ(format_of(folder.write("a.txt", kMaster)), "master");
  EXPECT_EQ(format_of(folder.write("b", std::string("\n  ") + kRecord)), "per-op");
  EXPECT_EQ(format_of(folder.write("c.json", kLine)), "op-jsonl");
  EXPECT_EQ(format_of(folder.write("d.jsonl", kNode)), "graph");
  EXPECT_EQ(format_of(folder.write("e", R"({"version": 1, "graph": )" + std::string(kNode) + "}")), "graph");
  EXPECT_EQ(format_of(folder.write("f", R"([{"name": "f", "arguments": {}}])")), "graph-python-io");
  EXPECT_EQ(format_of(folder.write("g", R"({"content": [{"operation": "f", "arguments": []}]})")), "graph-serialized");
}

TEST(ReadTrace, TheTellingKeyMayComeLate) {
  const TestFolder folder;
  const std::string filler = R"({"filler": ")" + std::string(300000, 'x') + "\", ";
  EXPECT_EQ(format_of(folder.write("a", filler + std::string(kMaster).substr(1))), "master");
  EXPECT_EQ(format_of(folder.write("b", filler + R"("graph": )" + kNode + "}")), "graph");
}

TEST(ReadTrace, WhatIsNoTraceSaysWhatItIs) {
  const TestFolder folder;
  EXPECT_EQ(error_of(folder.write("a", "")).code, ErrorCode::kBadInput);
  EXPECT_EQ(error_of(folder.write("b", " \n")).code, ErrorCode::kBadInput);
  EXPECT_EQ(error_of(folder.write("c", "hello")).code, ErrorCode::kNotATrace);
  EXPECT_EQ(error_of(folder.write("d", "[]")).code, ErrorCode::kNotATrace);
  EXPECT_EQ(error_of(folder.write("e", "{}")).code, ErrorCode::kNotATrace);
  const Error keys = error_of(folder.write("f", R"({"name": 1, "version": {"operations": 2}})"));
  EXPECT_EQ(keys.code, ErrorCode::kNotATrace);
  EXPECT_NE(keys.message.find("keys name, version"), std::string::npos) << keys.message;
  EXPECT_EQ(error_of(folder.file("missing")).code, ErrorCode::kNotFound);
  EXPECT_EQ(error_of(folder.write("g", R"({"name": })")).code, ErrorCode::kBadInput);
  for (const char* name : {"bad/cut.json", "bad/wrong.json", "bad/bad_utf8.json", "bad/nul.json", "bad/empty.json"})
    EXPECT_EQ(error_of(fixture_path(name)).code, ErrorCode::kBadInput) << name;
}

TEST(ReadTrace, InAFolderBadFilesAreCountedAndTheRestIsRead) {
  const TestFolder folder;
  folder.write("a.json", kMaster);
  folder.write("b.json", std::string(kMaster).substr(
                             0, std::string_view(kMaster).size() - 3));  // cut after a whole configuration
  folder.write("c.json", R"({"name": 1})");
  folder.write("notes.txt", "x");
  folder.write(".hidden.json", kMaster);
  folder.write("deeper/d.jsonl", kLine);
  folder.write("run/1_a_1.json", kRecord);
  TestSink sink;
  ASSERT_TRUE(read_trace(folder.path(), {}, sink));
  EXPECT_EQ(sink.calls.size(), 3u);  // nothing of the damaged file
  EXPECT_EQ(sink.ended.size(), 3u);
  EXPECT_EQ(sink.lost_kinds(), "unreadable_file");
  EXPECT_EQ(sink.left_out.at("files that are no traces"), 3u);
}

TEST(ReadTrace, ADamagedRecordGivenByItsPathIsAnError) {
  const TestFolder folder;
  EXPECT_EQ(error_of(folder.write("1_a_1.json", R"({"operation_name": "ttnn.add", "args": [)")).code,
            ErrorCode::kBadInput);
}

TEST(ReadTrace, NothingOfADamagedDocumentIsTakenWhateverItsFolderIsCalled) {
  const TestFolder folder;
  folder.write("old.jsonl.d/b.json", kDamaged);
  TestSink sink;
  ASSERT_TRUE(read_trace(folder.file("old.jsonl.d"), {}, sink));
  EXPECT_EQ(sink.calls.size(), 0u);
}

TEST(ReadTrace, ADamagedFirstLineLosesOnlyItself) {
  const TestFolder folder;
  TestSink sink;
  const Status done = read_trace(folder.write("a.jsonl", std::string("{\"op_na\n") + kLine + "\n"), {}, sink);
  EXPECT_TRUE(done);
  EXPECT_EQ(sink.calls.size(), 1u);
}

}  // namespace
}  // namespace opwright::format

#include "vectors/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/input.h"
#include "base/test_folder.h"
#include "vectors/read_vectors.h"
#include "vectors/sweep_hash.h"
#include "vectors/test_vectors.h"

namespace opwright::vectors {
namespace {

constexpr std::time_t kTime = 1'794'725'568;

std::string text_of(const std::string& path) {
  std::string text;
  EXPECT_TRUE(read_file(path, text)) << path;
  return text;
}

SweepReport write(const std::string& folder, const std::vector<TestVector>& vectors, std::time_t time = kTime,
                  const std::string& tag = "t") {
  SweepWriter writer({.folder = folder, .tag = tag, .time = time, .suite = "model_traced"});
  for (TestVector vector : vectors) EXPECT_TRUE(writer.add(std::move(vector)));
  auto report = writer.finish();
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : SweepReport{};
}

std::vector<TestVector> read(const std::string& path) {
  Collected all;
  const Status status = read_vectors(path, all.use());
  EXPECT_TRUE(status) << status.error().message;
  return std::move(all.vectors);
}

// Calls of every kind that the existing form has a place for.
std::vector<std::string> python_cases() {
  const std::string sharded = "memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)";
  return {
      fmt::format("ttnn.add(input_tensor_a={0}, input_tensor_b={0}, dtype=DataType.BFLOAT16)", kTensor),
      fmt::format("ttnn.add(input_tensor_a={}, input_tensor_b=2.0)", kTensor),
      fmt::format("ttnn.add(input_tensor_a={}, input_tensor_b=-inf, memory_config={})", kTensor, sharded),
      fmt::format("ttnn.add(input_tensor_a={}, input_tensor_b=none, memory_config=none)", kTensor),
      fmt::format("ttnn.concat(tensors=[{0},{0}], dim=-1)", kTensor),
      fmt::format(
          "ttnn.linear(input_tensor_a={0}, input_tensor_b={0}, bias={0}, activation=\"relu\", transpose_b=true)",
          kTensor),
      fmt::format("ttnn.interleaved_to_sharded(input_tensor={}, sharded_memory_config={})", kTensor, sharded),
      fmt::format("ttnn.sharded_to_interleaved(input_tensor={}, memory_config=memory(L1 INTERLEAVED), "
                  "output_dtype=DataType.BFLOAT16)",
                  kTensor),
      "ttnn.relu(input_tensor=tensor([32] FLOAT32 ROW_MAJOR HOST))",
      "ttnn.relu(input_tensor=tensor([] FLOAT32 TILE DEVICE memory(L1 BLOCK_SHARDED shard [32,64] on (0,0)-(3,1)+"
      "(0,4)-(0,4) COL_MAJOR)))",
  };
}

TEST(SweepFile, WhatIsWrittenReadsBackToTheSameConfiguration) {
  const TestFolder folder;
  std::vector<TestVector> vectors;
  for (const std::string& line : python_cases()) vectors.push_back(vector_of(line));
  vectors.push_back(vector_of("ttnn::add(arg0=tensor([32] FLOAT32 ROW_MAJOR DEVICE), arg1=0.5, arg2=none)"));
  const SweepReport report = write(folder.path(), vectors);
  EXPECT_EQ(report.vectors, 11);
  ASSERT_EQ(report.as_case_lines.size(), 1U) << report.as_case_lines.rbegin()->first;
  EXPECT_EQ(report.as_case_lines.begin()->second, 1);
  const auto again = read(folder.path());
  ASSERT_EQ(again.size(), vectors.size());
  for (const TestVector& vector : vectors) {
    const auto same = [&](const TestVector& other) {
      return other.config.key == vector.config.key && other.id == vector.id;
    };
    EXPECT_TRUE(std::any_of(again.begin(), again.end(), same)) << case_line(vector.config);
  }
}

TEST(SweepFile, HasTheFormOfTheExistingFiles) {
  const TestFolder folder;
  TestVector traced = vector_of(fmt::format("ttnn.add(input_tensor_a={}, input_tensor_b=2.0)", kTensor));
  traced.config_hash = std::string(64, 'a');
  traced.traced_source = R"(["models/a.py"])";
  traced.machine_info = R"({"board_type": "Wormhole", "mesh_device_shape": [1, 2]})";
  traced.group = "mesh_1x2";
  TestVector other =
      vector_of(fmt::format("ttnn.add(input_tensor_a={0}, input_tensor_b={0}, dtype=DataType.INT32)", kTensor));
  other.group = "mesh_1x2";
  other.invalid = "raised: RuntimeError";
  const SweepReport report = write(folder.path(), {traced, other});
  EXPECT_EQ(report.files, std::vector<std::string>{"model_traced.add_model_traced.mesh_1x2.json"});
  const std::string text = text_of(folder.file(report.files[0]));
  EXPECT_TRUE(text.starts_with("{\n  \"model_traced\": {\n    \"" + std::string(64, 'a') +
                               "\": {\n      \"arg1\": 2.0,\n      \"input_a_shape\": \"(1, 1, 32, 64)\",\n"))
      << text;
  for (const char* part :
       {"\"input_a_dtype\": \"DataType.BFLOAT16\"", "\"input_a_layout\": \"Layout.TILE\"",
        "\"input_a_memory_config\": {\n        \"type\": \"ttnn._ttnn.tensor.MemoryConfig\",\n        \"data\": {\n"
        "          \"buffer_type\": \"DRAM\",\n          \"created_with_nd_shard_spec\": false,",
        "\"input_b_shape\": \"__ABSENT__\"", "\"dtype\": \"__ABSENT__\"", "\"arg1\": \"__ABSENT__\"",
        "\"dtype\": \"DataType.INT32\"", "\"traced_source\": [\n        \"models/a.py\"\n      ]",
        "\"validity\": \"VALID\"", "\"validity\": \"INVALID\"", "\"invalid_reason\": \"raised: RuntimeError\"",
        "\"status\": \"VectorStatus.CURRENT\"", "\"sweep_name\": \"model_traced.add_model_traced\"",
        "\"timestamp\": \"2026-11-15_06-52-48\"", "\"tag\": \"t\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_FALSE(text.ends_with('\n'));
  const std::string manifest = text_of(folder.file("generation_manifest.json"));
  for (const char* part :
       {"\"vector_grouping_mode\": \"mesh\"", "\"module_name\": null", "\"suite_name\": \"model_traced\"",
        "\"vector_files\": [\n    \"model_traced.add_model_traced.mesh_1x2.json\"\n  ]"})
    EXPECT_NE(manifest.find(part), std::string::npos) << part << "\n" << manifest;
  const auto again = read(folder.path());
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].config_hash, traced.config_hash);
  EXPECT_EQ(again[0].sources, "models/a.py");
  EXPECT_EQ(again[0].mesh, "1x2");
  EXPECT_EQ(again[0].group, "mesh_1x2");
  EXPECT_EQ(again[1].invalid, "raised: RuntimeError");
}

// What is read back is each vector, whatever was learned from others: the first two have all values in common, of the
// third and fourth a field has the name of another.
TEST(SweepFile, EqualValuesInOtherPlacesAreOtherVectors) {
  const TestFolder folder;
  const std::string other = "tensor([32,64] FLOAT32 TILE DEVICE memory(L1 INTERLEAVED))";
  const std::vector<TestVector> vectors{
      vector_of(fmt::format("ttnn.matmul(input_tensor_a={}, input_tensor_b={})", kTensor, other)),
      vector_of(fmt::format("ttnn.matmul(input_tensor_a={}, input_tensor_b={})", other, kTensor)),
      vector_of(fmt::format("ttnn.matmul(input_tensor_a={}, output_memory_config=memory(L1 INTERLEAVED))", kTensor)),
      vector_of(fmt::format("ttnn.matmul(input_tensor_a={}, input_a={})", kTensor, other)),
  };
  const SweepReport report = write(folder.path(), vectors);
  ASSERT_EQ(report.as_case_lines.size(), 1U);
  EXPECT_EQ(report.as_case_lines.begin()->second, 2) << report.as_case_lines.begin()->first;
  std::vector<std::string> keys, wanted;
  for (const TestVector& vector : read(folder.path())) keys.push_back(vector.key);
  for (const TestVector& vector : vectors) wanted.push_back(vector.key);
  std::sort(keys.begin(), keys.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(keys, wanted);
}

TEST(SweepFile, ManyFilesAreWrittenAndTheUnreadableOneIsNamed) {
  const TestFolder folder;
  std::vector<TestVector> vectors;
  for (const char* op : {"relu", "gelu", "silu", "exp", "abs", "neg", "sqrt", "sin", "cos", "square"})
    vectors.push_back(vector_of(fmt::format("ttnn.{}(input_tensor={})", op, kTensor)));
  SweepReport report = write(folder.path(), vectors);
  EXPECT_EQ(report.written, 10);
  EXPECT_TRUE(std::is_sorted(report.files.begin(), report.files.end()));
  EXPECT_EQ(read(folder.path()).size(), vectors.size());
  report = write(folder.path(), vectors, kTime + 1);
  EXPECT_EQ(report.written, 0);
  EXPECT_EQ(report.bytes, 0);
  const std::string bad = folder.write("model_traced.exp_model_traced.json", "[");
  SweepWriter writer({.folder = folder.path(), .tag = "t", .time = kTime, .suite = "model_traced"});
  for (TestVector vector : vectors) EXPECT_TRUE(writer.add(std::move(vector)));
  const auto refused = writer.finish();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("exp_model_traced"), std::string::npos) << refused.error().message;
  EXPECT_EQ(text_of(bad), "[");
}

TEST(SweepFile, HashesAVectorWithoutAnotherHashOverItsText) {
  json::Document document;
  const auto node = document.parse(R"({"b": [1, 2.50, true, null], "a": "ä\n\u0001\"", "c": {"z": 1e-5, "y": -0}})");
  ASSERT_TRUE(node);
  EXPECT_EQ(compact_sorted(**node), R"({"a":"ä\n\u0001\"","b":[1,2.5,true,null],"c":{"y":0,"z":1e-05}})");
  EXPECT_EQ(sweep_hash(**document.parse("{}")),
            "5cdd15a873608087be07a41b7f1a04e96d3a66fe7a9b0faac71f8d05");  // as Python's hashlib
}

TEST(SweepFile, KeepsOtherSuitesAndDoesNotTouchWhatIsUnchanged) {
  const TestFolder folder;
  const TestVector traced = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor));
  const TestVector mine = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor), "mine");
  EXPECT_EQ(write(folder.path(), {traced}).written, 1);
  EXPECT_EQ(write(folder.path(), {mine}).written, 1);
  const std::string path = folder.file("model_traced.relu_model_traced.json");
  const std::string both = text_of(path);
  EXPECT_NE(both.find("\"model_traced\": {"), std::string::npos);
  EXPECT_NE(both.find("\"mine\": {"), std::string::npos);
  EXPECT_EQ(write(folder.path(), {traced}, kTime + 1000).written, 0);
  EXPECT_EQ(text_of(path), both);
  EXPECT_EQ(write(folder.path(), {traced}, kTime, "other").written, 1);  // another tag is another content
  TestVector changed = traced;
  changed.invalid = "no_shape: of a test";
  EXPECT_EQ(write(folder.path(), {changed}, kTime, "other").written, 1);
  EXPECT_EQ(read(folder.path()).size(), 2U);
}

TEST(SweepFile, NeverOverwritesADamagedFile) {
  const TestFolder folder;
  for (const char* content : {"", "{\"model_traced\": {", "[1]", "{\"model_traced\": 3}"}) {
    const std::string path = folder.write("model_traced.relu_model_traced.json", content);
    SweepWriter writer({.folder = folder.path()});
    ASSERT_TRUE(writer.add(vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor))));
    const auto report = writer.finish();
    ASSERT_FALSE(report) << content;
    EXPECT_EQ(report.error().code, ErrorCode::kBadInput);
    EXPECT_NE(report.error().message.find("not overwritten"), std::string::npos) << report.error().message;
    EXPECT_EQ(text_of(path), content);
  }
}

TEST(SweepFile, OneRefusalLeavesEverythingAsItWas) {
  const TestFolder folder;
  folder.write("model_traced.relu_model_traced.json", "[1]");
  SweepWriter writer({.folder = folder.path()});
  for (const char* op : {"abs", "relu", "silu"})
    ASSERT_TRUE(writer.add(vector_of(fmt::format("ttnn.{}(input_tensor={})", op, kTensor))));
  ASSERT_FALSE(writer.finish());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    left.push_back(entry.path().filename().string());
  EXPECT_EQ(left, std::vector<std::string>{"model_traced.relu_model_traced.json"});
}

TEST(SweepFile, SaysWhereAnOriginIsNoJson) {
  const TestFolder folder;
  TestVector vector = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor));
  vector.traced_source = "[\"cut";
  const SweepReport report = write(folder.path(), {vector});
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes.begin()->first.find("no JSON"), std::string::npos);
  EXPECT_EQ(read(folder.path()).size(), 1U);
}

TEST(SweepFile, TwoVectorsWithOneRecordedHashAreBothWritten) {
  const TestFolder folder;
  TestVector a = vector_of(fmt::format("ttnn.relu(input_tensor={})", kTensor));
  TestVector b = vector_of("ttnn.relu(input_tensor=tensor([32,32] FLOAT32 TILE DEVICE memory(DRAM INTERLEAVED)))");
  a.config_hash = b.config_hash = std::string(64, 'c');
  const SweepReport report = write(folder.path(), {a, b});
  EXPECT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(read(folder.path()).size(), 2U);
}

}  // namespace
}  // namespace opwright::vectors

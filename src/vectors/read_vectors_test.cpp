#include "vectors/read_vectors.h"

#include <fmt/format.h>

#include "base/test_folder.h"
#include "vectors/test_vectors.h"
#include "vectors/vector_line.h"

namespace opwright::vectors {
namespace {

constexpr char kModule[] = "model_traced.interleaved_to_sharded_model_traced";

// As the existing generator writes it.
std::string foreign(const std::string& more = "", const std::string& hash = "59555cf6") {
  std::string text = R"J({"model_traced": {"@HASH@": {
    "arg1": {"buffer_type": "BufferType.L1", "hash": 4, "interleaved": false, "is_sharded": true,
      "memory_layout": "TensorMemoryLayout.WIDTH_SHARDED", "shard_spec": {"grid": [{"start": {"x": 0, "y": 0},
      "end": {"x": 7, "y": 0}}], "shape": [32, 256], "orientation": "ROW_MAJOR"}},
    "input_a_shape": "(1, 1, 32, 2048)", "input_a_dtype": "DataType.BFLOAT16", "input_a_layout": "Layout.TILE",
    "input_a_memory_config": {"type": "ttnn._ttnn.tensor.MemoryConfig", "data": {"buffer_type": "DRAM",
      "created_with_nd_shard_spec": false, "memory_layout": "INTERLEAVED", "per_core_allocation": false}},
    "input_a_tensor_placement": {"distribution_shape": "[2]", "mesh_device_shape": "[1, 2]",
      "placement": "['PlacementShard(-1)']"},
    "keep_l1_aligned": "__ABSENT__", "output_dtype": "DataType.BFLOAT8_B",
    "output_memory_config": {"type": "ttnn._ttnn.tensor.MemoryConfig", "data": {"buffer_type": "DRAM",
      "created_with_nd_shard_spec": false, "memory_layout": "INTERLEAVED", "per_core_allocation": false}},
    "traced_source": ["models/demos/a.py"], "traced_machine_info": {"board_type": "Wormhole",
      "device_series": "n300", "card_count": 1, "mesh_device_shape": [1, 2]},
    "config_hash": "@HASH@", "suite_name": "model_traced", "validity": "VALID", "invalid_reason": "",
    "status": "VectorStatus.CURRENT", "sweep_name": "model_traced.interleaved_to_sharded_model_traced",
    "timestamp": "2026-11-15_06-52-48", "input_hash": "59555cf6", "tag": "x"@MORE@}}})J";
  const auto put = [&](std::string_view hole, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(hole)) != std::string::npos;) text.replace(at, hole.size(), with);
  };
  put("@HASH@", hash);
  put("@MORE@", more);
  return text;
}

std::string error_of(const std::string& path) {
  int used = 0;
  const Status status = read_vectors(path, [&](TestVector&&) -> Status {
    ++used;
    return {};
  });
  EXPECT_FALSE(status) << path;
  EXPECT_EQ(used, 0) << "half a result";
  return status ? "" : status.error().message;
}

TEST(ReadVectors, ReadsAFileOfTheExistingGenerator) {
  const TestFolder folder;
  Collected all;
  ASSERT_TRUE(read_vectors(folder.write(std::string(kModule) + ".mesh_1x2.json", foreign()), all.use()));
  ASSERT_EQ(all.vectors.size(), 1U);
  const TestVector& vector = all.vectors[0];
  EXPECT_EQ(
      case_line(vector.config),
      "ttnn.interleaved_to_sharded(input_tensor=tensor([1,1,32,2048] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED) "
      "placed [Shard(3)] over [2] of mesh [1,2]), arg1=memory(L1 WIDTH_SHARDED shard [32,256] on (0,0)-(7,0) "
      "ROW_MAJOR), output_dtype=DataType.BFLOAT8_B)");
  EXPECT_EQ(vector.machine, "Wormhole n300 x1");
  EXPECT_EQ(vector.mesh, "1x2");
  EXPECT_EQ(vector.group, "mesh_1x2");
  EXPECT_EQ(vector.suite, "model_traced");
  EXPECT_EQ(vector.config_hash, "59555cf6");
}

TEST(ReadVectors, KnowsAPassedMemoryConfigByTheOutputs) {
  const TestFolder folder;
  std::string text = foreign();
  const std::size_t at = text.find("\"output_memory_config\"");
  text.replace(text.find("DRAM", at), 4, "L1");
  Collected all;
  ASSERT_TRUE(read_vectors(folder.write("a.json", text), all.use()));
  EXPECT_NE(case_line(all.vectors.at(0).config).find("memory_config=memory(L1 INTERLEAVED)"), std::string::npos);
}

TEST(ReadVectors, ReadsOnlyWhatTheManifestNames) {
  const TestFolder folder;
  folder.write("a.json", foreign());
  folder.write("stale.json", "{");
  folder.write("generation_manifest.json", R"({"vector_files": ["a.json"]})");
  Collected all;
  ASSERT_TRUE(read_vectors(folder.path(), all.use()));
  EXPECT_EQ(all.vectors.size(), 1U);
}

TEST(ReadVectors, SaysWhatIsWrongWithAFile) {
  const TestFolder folder;
  const std::string good = foreign();
  EXPECT_NE(error_of(folder.write("empty.json", "")).find("empty.json"), std::string::npos);
  EXPECT_NE(error_of(folder.write("cut.json", good.substr(0, good.size() / 2))).find("line"), std::string::npos);
  EXPECT_NE(error_of(folder.write("array.json", "[]")).find("no vector file"), std::string::npos);
  EXPECT_NE(error_of(folder.write("suite.json", R"({"s": [1]})")).find("suite 's'"), std::string::npos);
  EXPECT_NE(error_of(folder.write("vector.json", R"({"s": {"h": 1}})")).find("vector h"), std::string::npos);
  EXPECT_NE(error_of(folder.write("hash.json", foreign("", "other"))).find("input_hash"), std::string::npos);
  const char* old = R"({"s": {"h": {"input_shape": [1], "sweep_name": "model_traced.relu_model_traced"}}})";
  EXPECT_NE(error_of(folder.write("old.json", old)).find("older kind"), std::string::npos);
  EXPECT_NE(error_of(folder.write("unnamed.json", R"({"s": {"h": {"arg0": 1}}})")).find("does not name its operation"),
            std::string::npos);
  EXPECT_NE(error_of(folder.write("line.json", R"({"s": {"h": {"case_line": "ttnn.add("}}})")).find("case_line"),
            std::string::npos);
  EXPECT_NE(error_of(folder.file("not there")).find("not there"), std::string::npos);
}

TEST(ReadVectors, SaysWhatIsWrongWithAFolder) {
  const TestFolder folder;
  EXPECT_NE(error_of(folder.path()).find("generation_manifest.json"), std::string::npos);
  for (const char* manifest : {"{", "[]", R"({"vector_files": "a"})", R"({"vector_files": ["../a.json"]})",
                               R"({"vector_files": [3]})", R"({"vector_files": ["gone.json"]})"}) {
    folder.write("generation_manifest.json", manifest);
    EXPECT_NE(error_of(folder.path()).find("generation_manifest.json"), std::string::npos) << manifest;
  }
  folder.write("a.json", foreign());
  folder.write("b.json", "{\"s\": 1}");
  folder.write("generation_manifest.json", R"({"vector_files": ["a.json", "b.json"]})");
  EXPECT_NE(error_of(folder.path()).find("b.json"), std::string::npos);
}

TEST(VectorLine, GivesTheVectorBack) {
  TestVector vector = vector_of(fmt::format("ttnn::add(arg0={0}, arg1={0})", kTensor), "xfail_mine");
  vector.pcc = 0.99;
  vector.seconds = 2.5;
  vector.recipe = {.distribution = Distribution::kIntegers, .seed = 18446744073709551615U};
  vector.calls = 7;
  vector.models = "a,b";
  vector.invalid = "raised: \"x\"";
  vector.group = "mesh_1x2";
  name_vector(vector);
  const TestFolder folder;
  Collected all;
  ASSERT_TRUE(read_vectors(folder.write("v.jsonl", to_line(vector) + "\n\n" + to_line(vector) + "\n"), all.use()));
  ASSERT_EQ(all.vectors.size(), 2U);
  EXPECT_EQ(to_line(all.vectors[1]), to_line(vector));
  EXPECT_TRUE(all.vectors[0].expected_to_fail());
}

TEST(VectorLine, SaysWhatIsWrong) {
  const TestFolder folder;
  const std::string good = to_line(vector_of("ttnn.arange()"));
  for (const char* line :
       {"{\"id\": \"x\"}", "{\"id\": \"x\", \"suite\": \"s\", \"case\": \"ttnn.add(\"}",
        "{\"id\": \"x\", \"suite\": \"s\", \"case\": \"ttnn.add()\", \"key\": \"00\"}",
        "{\"id\": \"x\", \"suite\": \"s\", \"case\": \"ttnn.add()\", \"seed\": -1}",
        "{\"id\": \"x\", \"suite\": \"s\", \"case\": \"ttnn.add()\", \"pcc\": \"high\"}", "{\"id\": \"x\"", "3"}) {
    const std::string message = error_of(folder.write("v.jsonl", good + "\n" + line + "\n"));
    EXPECT_NE(message.find("line 2"), std::string::npos) << line << ": " << message;
  }
}

}  // namespace
}  // namespace opwright::vectors

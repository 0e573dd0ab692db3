#include "format/per_op/convert.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/json_write.h"
#include "base/test_folder.h"

namespace opwright::format {
namespace {

CallArguments convert(const std::string& record, const std::string& machine = "null") {
  json::Document document, machine_document;
  const json::Node* machine_info = *machine_document.parse(machine);
  ArgumentTree tree(machine_info->is(json::Kind::kObject) ? machine_info : nullptr);
  CallArguments converted;
  const std::string wrong = convert_record(**document.parse(record), tree, converted);
  if (!wrong.empty()) {
    converted.text = "wrong: " + wrong;
    return converted;
  }
  json::Document again;  // the tree says what its text says
  std::string of_tree, of_text;
  json::append_python(of_tree, converted.tree, {.blanks = false});
  json::append_python(of_text, **again.parse(converted.text), {.blanks = false});
  EXPECT_EQ(of_tree, of_text);
  return converted;
}

std::string value(const std::string& json) { return convert(R"({"args": [], "kwargs": {"k": )" + json + "}}").text; }

std::string sorted(const json::Node& node) {
  std::string text;
  json::append_python(text, node, {.sort_keys = true});
  return text;
}

TEST(PerOpConvert, PositionsAndKeywordsInOneSortedObject) {
  EXPECT_EQ(convert(R"({"args": [{"position": 1, "value": 2}, {"position": 0, "value": "x"}, {"value": null}],
                        "kwargs": {"dim": -1, "alpha": 1.50}})")
                .text,
            R"({"alpha":1.50,"arg0":"x","arg1":2,"arg2":null,"dim":-1})");
  EXPECT_EQ(convert(R"({"args": []})").text, "{}");
  EXPECT_EQ(convert(R"({"args": [], "kwargs": null})").text, "{}");
}

TEST(PerOpConvert, AnotherShapeIsSaid) {
  EXPECT_EQ(convert(R"({"kwargs": {}})").text, "wrong: 'args' is not an array");
  EXPECT_EQ(convert(R"({"args": {}})").text, "wrong: 'args' is not an array");
  EXPECT_EQ(convert(R"({"args": [], "kwargs": [1]})").text, "wrong: 'kwargs' is not an object");
  EXPECT_EQ(convert(R"({"args": [{"position": 0}]})").text, "wrong: an entry of 'args' has no value");
}

TEST(PerOpConvert, HandlesOfARunAreLeftOutAndCounted) {
  const auto of = [](std::string_view op) {
    return convert(R"({"operation_name": ")" + std::string(op) + R"(", "args": [], "kwargs": {"dim": 1,
        "barrier_semaphore": {"type": "s", "value": "at 0x1"}, "multi_device_global_semaphore": []}})");
  };
  EXPECT_EQ(of("ttnn.all_gather").text, R"({"dim":1})");
  EXPECT_EQ(of("ttnn.all_gather").handles, 2u);
  EXPECT_EQ(of("mylib.all_gather").handles, 0u);  // what is a handle is the dialect's to say
}

TEST(PerOpConvert, AddressesAndNonFiniteNumbers) {
  EXPECT_EQ(value(R"(["<f at 0x7fAb>", Infinity, -Infinity, NaN, 1e5, 18446744073709551616])"),
            R"({"k":["<f>","inf","-inf","nan",1e5,18446744073709551616]})");
}

TEST(PerOpConvert, ShardSpecsAreOpened) {
  EXPECT_EQ(value(R"({"shard_spec": "None"})"), R"({"k":{"shard_spec":null}})");
  EXPECT_EQ(
      value(
          R"({"shard_spec": "ShardSpec{grid=[{\"start\":{\"x\":0,\"y\":1},\"end\":{\"x\":7,\"y\":6}}], shape=[32, 64], orientation=ShardOrientation::ROW_MAJOR}"})"),
      R"({"k":{"shard_spec":{"grid":[{"end":{"x":7,"y":6},"start":{"x":0,"y":1}}],"orientation":"ROW_MAJOR","shape":[32,64]}}})");
  EXPECT_EQ(value(R"({"shard_spec": "ShardSpec{what"})"),
            R"({"k":{"shard_spec":"ShardSpec{what"}})");  // stays as it is
  EXPECT_EQ(value(R"({"shard_spec": {"b": 1, "a": 2}})"), R"({"k":{"shard_spec":{"a":2,"b":1}}})");
}

TEST(PerOpConvert, WhatRepeatsTheOriginalGoes) {
  EXPECT_EQ(
      value(
          R"({"type": "ttnn.Tensor", "original_shape": [1, 2], "shape": [1, 2], "original_dtype": "D", "dtype": "D"})"),
      R"({"k":{"original_dtype":"D","original_shape":[1,2],"type":"ttnn.Tensor"}})");
  EXPECT_EQ(value(R"({"original_shape": [1, 2], "shape": [1, 4], "dtype": "E", "original_dtype": "D"})"),
            R"({"k":{"dtype":"E","original_dtype":"D","original_shape":[1,2],"shape":[1,4]}})");
  EXPECT_EQ(value(R"({"shape": [1], "dtype": "E"})"), R"({"k":{"dtype":"E","shape":[1]}})");
}

TEST(PerOpConvert, ElementValuesAreLeftOutAndCounted) {
  const CallArguments converted =
      convert(R"({"args": [{"position": 0, "value": {"original_shape": [2], "shape": [2, 1], "values": [1, 2]}}]})");
  EXPECT_EQ(converted.text, R"({"arg0":{"original_shape":[2]}})");
  EXPECT_EQ(converted.tensors_with_values, 1u);
  EXPECT_EQ(value(R"({"values": [1]})"), R"({"k":{"values":[1]}})");  // not a tensor
}

TEST(PerOpConvert, TheMeshBecomesAPlacement) {
  const CallArguments converted = convert(
      R"j({"args": [{"position": 0, "value": {"a": 1, "type": "ttnn.Tensor", "mesh_device": {"placements": ["PlacementShard(2)",
          "PlacementReplicate"], "distribution_shape": [1, 2], "shape": [4, 8], "device_ids": [24, 25]}}}]})j");
  EXPECT_EQ(converted.text,
            R"({"arg0":{"a":1,"tensor_placement":{"distribution_shape":"[1, 2]","mesh_device_shape":"[4, 8]",)"
            R"("placement":"['PlacementShard(2)', 'PlacementReplicate']"},"type":"ttnn.Tensor"}})");
  EXPECT_TRUE(converted.mesh.known);
  EXPECT_EQ(converted.mesh.device_ids, "[24, 25]");
  EXPECT_EQ(converted.mesh.device_count, 2u);
  EXPECT_EQ(converted.mesh.mesh_shape, "[4, 8]");
  EXPECT_EQ(merged_machine(nullptr, converted.mesh),
            R"({"device_count": 2, "device_ids": [24, 25], "mesh_device_shape": [4, 8]})");
}

TEST(PerOpConvert, AMeshShapeIsInferredAsTheExistingTracerDoes) {
  const auto shape = [](const std::string& mesh, const std::string& machine = "null") {
    return convert(R"({"args": [{"position": 0, "value": {"mesh_device": )" + mesh + "}}]}", machine).mesh.mesh_shape;
  };
  EXPECT_EQ(shape(R"({"shape": [2, 4], "distribution_shape": [8]})"), "[2, 4]");
  EXPECT_EQ(shape(R"({"shape": [8], "distribution_shape": [2, 4]})"), "[2, 4]");
  EXPECT_EQ(shape(R"({"distribution_shape": [5]})"), "[1, 5]");
  EXPECT_EQ(shape(R"({"distribution_shape": [32]})", R"({"device_series": "tt-galaxy-wh", "card_count": 32})"),
            "[4, 8]");
  EXPECT_EQ(shape(R"({"distribution_shape": [32]})", R"({"device_series": "tt-galaxy-wh", "card_count": 4})"),
            "[1, 32]");
  EXPECT_EQ(shape(R"({})"), "");
}

TEST(PerOpConvert, TheMeshOfTheFirstTensorIsMergedIntoTheMachine) {
  json::Document document;
  const json::Node& machine = **document.parse(R"({"device_count": 1, "board_type": "W", "device_ids": [9]})");
  EXPECT_EQ(merged_machine(&machine, {}), R"({"board_type": "W", "device_count": 1, "device_ids": [9]})");
  EXPECT_EQ(merged_machine(&machine, {true, "[0, 1]", "[1, 2]", 2}),
            R"({"board_type": "W", "device_count": 2, "device_ids": [0, 1], "mesh_device_shape": [1, 2]})");
  EXPECT_EQ(merged_machine(nullptr, {}), "");
  EXPECT_EQ(
      convert(
          R"({"args": [{"value": {"mesh_device": {"shape": [1, 2]}}}, {"value": {"mesh_device": {"shape": [4, 8]}}}]})")
          .mesh.mesh_shape,
      "[1, 2]");
}

// The folder and the master that the existing tool makes of it hold the same arguments and machines.
TEST(PerOpConvert, AFolderGivesTheMasterOfTheExistingTool) {
  json::Document metadata_document, master_document;
  const std::string metadata_text = fixture("per_op/v3/_trace_metadata.json");
  const json::Node* machine = (*metadata_document.parse(metadata_text))->find("machine_info");
  std::map<std::string, std::map<std::string, std::string>> made;  // op -> arguments -> machine
  for (const auto& entry : std::filesystem::directory_iterator(fixture_path("per_op/v3"))) {
    if (entry.path().filename().string().starts_with('_')) continue;
    json::Document document, arguments;
    const json::Node& record = **document.parse(content_of(entry.path()));
    ArgumentTree tree(machine);
    CallArguments converted;
    ASSERT_EQ(convert_record(record, tree, converted), "") << entry.path();
    made[std::string(*record.string_field("operation_name"))][sorted(**arguments.parse(converted.text))] =
        merged_machine(machine, converted.mesh);
  }
  const auto master = master_document.parse(fixture("per_op/expected_master_v3.json"));
  ASSERT_TRUE(master);
  std::size_t compared = 0;
  const json::Node& operations = *(*master)->find("operations");
  for (std::uint32_t i = 0; i < operations.count; ++i) {
    const auto& calls = made[std::string(operations.fields[i].key)];
    EXPECT_EQ(calls.size(), operations.fields[i].value.find("configurations")->count) << operations.fields[i].key;
    for (const json::Node& configuration : *operations.fields[i].value.find("configurations")) {
      const auto found = calls.find(sorted(*configuration.find("arguments")));
      ASSERT_NE(found, calls.end()) << operations.fields[i].key << sorted(*configuration.find("arguments"));
      EXPECT_EQ(found->second, sorted(*configuration.find("executions")->items[0].find("machine_info")));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 7u);
}

}  // namespace
}  // namespace opwright::format

// Tensors, memory configs, shard specs and grids in every spelling that real traces have.
#include <gtest/gtest.h>

#include <string>

#include "format/lift.h"

namespace opwright::format {
namespace {

std::string meaning(std::string_view json, LiftNotes& notes) {
  json::Document document;
  const auto root = document.parse(json);
  EXPECT_TRUE(root) << json;
  return root ? to_text(lift_json(**root, notes)) : "";
}

std::string meaning(std::string_view json) {
  LiftNotes notes;
  std::string text = meaning(json, notes);
  EXPECT_EQ(notes.unparsed, 0u) << json;
  EXPECT_EQ(notes.unknown_names, 0u) << json;
  return text;
}

std::string quoted_reflection(std::string_view text) {
  LiftNotes notes;
  const Value value = lift_text(text, notes);
  EXPECT_EQ(notes.unparsed + notes.unknown_names, 0u) << text;
  return to_text(value);
}

// A memory config around `shard_spec`; what comes back begins behind "memory(L1 HEIGHT_SHARDED".
std::string shard(const std::string& shard_spec) {
  const std::string text = meaning(
      R"({"memory_layout": "TensorMemoryLayout.HEIGHT_SHARDED", "buffer_type": "BufferType.L1", "shard_spec": )" +
      shard_spec + "}");
  constexpr std::string_view kStart = "memory(L1 HEIGHT_SHARDED";
  EXPECT_TRUE(text.starts_with(kStart)) << text;
  return text.substr(kStart.size());
}

std::string grid(const std::string& spelled) {
  return shard(R"({"grid": )" + spelled + R"(, "shape": [224, 32], "orientation": "ROW_MAJOR"})");
}

TEST(LiftGrid, OneRangeInEverySpelling) {
  const std::string expected = " shard [224,32] on (0,0)-(7,6) ROW_MAJOR)";
  for (const char* spelled :
       {R"([{"x": 0, "y": 0}, {"x": 7, "y": 6}])", R"([[{"x": 0, "y": 0}, {"x": 7, "y": 6}]])",
        R"([{"start": {"x": 0, "y": 0}, "end": {"x": 7, "y": 6}}])",
        R"([{"end": {"y": 6, "x": 7}, "start": {"y": 0, "x": 0}}])", R"("[{\"x\":0,\"y\":0} - {\"x\":7,\"y\":6}]")",
        R"("{[{\"x\":0,\"y\":0} - {\"x\":7,\"y\":6}]}")", R"("{[(x=0,y=0) - (x=7,y=6)]}")"})
    EXPECT_EQ(grid(spelled), expected) << spelled;
}

TEST(LiftGrid, SeveralRangesKeepTheirOrder) {
  for (
      const char* spelled :
      {R"([[{"x": 2, "y": 0}, {"x": 2, "y": 0}], [{"x": 0, "y": 1}, {"x": 1, "y": 1}]])",
       R"([{"start": {"x": 2, "y": 0}, "end": {"x": 2, "y": 0}}, {"start": {"x": 0, "y": 1}, "end": {"x": 1, "y": 1}}])",
       R"("{[{\"x\":2,\"y\":0} - {\"x\":2,\"y\":0}], [{\"x\":0,\"y\":1} - {\"x\":1,\"y\":1}]}")"})
    EXPECT_EQ(grid(spelled), " shard [224,32] on (2,0)-(2,0)+(0,1)-(1,1) ROW_MAJOR)") << spelled;
}

TEST(LiftShard, ShapesInEverySpelling) {
  for (const char* spelled :
       {"[224, 32]", R"("[224, 32]")", R"("{224, 32}")", R"j({"type": "Shape", "value": "Shape([224, 32])"})j"})
    EXPECT_EQ(shard(R"({"grid": [{"x": 0, "y": 0}, {"x": 7, "y": 6}], "shape": )" + std::string(spelled) + "}"),
              " shard [224,32] on (0,0)-(7,6))")
        << spelled;
}

TEST(LiftShard, TheTextOfATracerWithAndWithoutTheBraceThatOldBuildsForgot) {
  for (const std::string range : {R"({\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":7}})",
                                  R"({\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":7})"}) {
    EXPECT_EQ(shard("\"ShardSpec{grid=[" + range + "], shape=[32, 64], orientation=ShardOrientation::COL_MAJOR}\""),
              " shard [32,64] on (0,0)-(7,7) COL_MAJOR)");
  }
}

TEST(LiftShard, OrientationsInEverySpelling) {
  const auto oriented = [](const std::string& spelled) {
    return shard(R"({"grid": [{"x": 0, "y": 0}, {"x": 0, "y": 0}], "shape": [1, 1], "orientation": )" + spelled + "}");
  };
  for (const char* spelled : {R"("ShardOrientation::COL_MAJOR")", R"("COL_MAJOR")", "1", R"("1")"})
    EXPECT_EQ(oriented(spelled), " shard [1,1] on (0,0)-(0,0) COL_MAJOR)") << spelled;
  EXPECT_EQ(oriented("null"), " shard [1,1] on (0,0)-(0,0))");
}

TEST(LiftShard, NothingInEverySpelling) {
  for (const char* spelled : {"null", R"("None")", R"("std::nullopt")", R"("nullopt")"}) EXPECT_EQ(shard(spelled), ")");
}

TEST(LiftShard, OfNDimensions) {
  EXPECT_EQ(
      meaning(R"({"memory_layout": "TensorMemoryLayout::ND_SHARDED", "buffer_type": 1, "shard_spec": "std::nullopt",
      "nd_shard_spec": {"shard_shape": "[1, 32, 32]", "grid": [{"x": 0, "y": 0}, {"x": 1, "y": 1}],
      "orientation": "ShardOrientation::ROW_MAJOR", "shard_distribution_strategy": "ShardDistributionStrategy::GRID_2D"}})"),
      "memory(L1 ND_SHARDED nd_shard [1,32,32] on (0,0)-(1,1) ROW_MAJOR distribution=GRID_2D)");
}

TEST(LiftShard, WhatIsNotUnderstoodIsKeptAndCounted) {
  for (const char* spelled :
       {R"("ShardSpec{grid=[")", R"({"grid": "what", "shape": [1, 2]})",
        R"({"grid": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]})", "7", R"({"shape": [1.5], "grid": []})"}) {
    LiftNotes notes;
    const std::string text = meaning(
        R"({"memory_layout": "WIDTH_SHARDED", "buffer_type": "L1", "shard_spec": )" + std::string(spelled) + "}",
        notes);
    EXPECT_EQ(notes.unparsed, 1u) << spelled;
    EXPECT_NE(text.find("shard_spec=opaque(shard_spec,"), std::string::npos) << text;
  }
}

TEST(LiftMemory, NamesInEverySpellingAndFieldsThatSayNothing) {
  const std::string expected = "memory(DRAM INTERLEAVED)";
  EXPECT_EQ(meaning(R"({"memory_layout": 0, "buffer_type": 0})"), expected);
  EXPECT_EQ(
      meaning(R"({"memory_layout": "INTERLEAVED", "buffer_type": "DRAM", "shard_spec": "None", "is_sharded": false,
                        "interleaved": true, "hash": 18446744073709551615, "created_with_nd_shard_spec": 0})"),
      expected);
  EXPECT_EQ(quoted_reflection("MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,"
                              "shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)"),
            expected);
  EXPECT_EQ(
      meaning(
          R"({"MemoryConfig": {"memory_layout": "TensorMemoryLayout::INTERLEAVED", "buffer_type": "BufferType::DRAM"}})"),
      expected);
}

TEST(LiftMemory, NothingIsDefaulted) {
  EXPECT_EQ(meaning(R"({"memory_layout": null, "buffer_type": "None"})"), "memory()");
  LiftNotes notes;
  EXPECT_EQ(meaning(R"({"memory_layout": "SPIRAL", "buffer_type": 9, "new_flag": 1})", notes),
            "memory(buffer=9 layout=SPIRAL {new_flag=1})");
  EXPECT_EQ(notes.unknown_names, 2u);
  EXPECT_EQ(notes.unknown_example, "memory layout 'SPIRAL'");
}

TEST(LiftTensor, OfThePythonTracer) {
  EXPECT_EQ(
      meaning(R"({"type": "ttnn.Tensor", "original_shape": [1, 1, 28, 32], "original_dtype": "DataType.BFLOAT16",
      "layout": "Layout.ROW_MAJOR", "storage_type": "StorageType.HOST", "shape": [1, 1, 28, 32], "dtype": "DataType.BFLOAT16",
      "memory_config": {"memory_layout": "TensorMemoryLayout.INTERLEAVED", "buffer_type": "BufferType.DRAM", "shard_spec": "None"},
      "tensor_placement": {"placement": "['PlacementShard(-2)', 'PlacementReplicate()']", "distribution_shape": "[1, 2]",
                           "mesh_device_shape": "[4, 8]"}})"),
      "tensor([1,1,28,32] BFLOAT16 ROW_MAJOR HOST memory(DRAM INTERLEAVED) placed [Shard(2),Replicate] over [1,2] of "
      "mesh [4,8])");
}

TEST(LiftTensor, ADeviceShapeAndDtypeThatDifferAreSaid) {
  EXPECT_EQ(
      meaning(
          R"({"type": "ttnn.Tensor", "original_shape": [8, 4], "shape": [2, 4], "original_dtype": "DataType.FLOAT32",
                        "dtype": "DataType.BFLOAT16"})"),
      "tensor([8,4] FLOAT32 on each device [2,4] {device_dtype=\"DataType.BFLOAT16\"})");
}

TEST(LiftTensor, ElementValuesAndIdsAreLeftOut) {
  LiftNotes notes;
  EXPECT_EQ(
      meaning(R"({"type": "ttnn.Tensor", "original_shape": [2], "shape": [2, 1], "values": [1.0, 2.0], "tensor_id": 7,
                        "device_id": 3, "address": 99, "is_allocated": true})",
              notes),
      "tensor([2])");
  EXPECT_EQ(meaning(R"({"type": "ttnn.Tensor", "shape": [2], "colour": "red"})"), R"(tensor([2] {colour="red"}))");
}

TEST(LiftTensor, ATileOfANativeTrace) {
  EXPECT_EQ(meaning(R"({"type": "ttnn.Tensor", "original_shape": [32, 32], "tile": [16, 32]})"),
            "tensor([32,32] tile [16,32])");
}

TEST(LiftTensor, OfTorch) {
  EXPECT_EQ(meaning(R"({"type": "torch.Tensor", "shape": [3, 224, 224], "dtype": "torch.bfloat16"})"),
            "tensor(torch.Tensor [3,224,224] BFLOAT16)");
}

TEST(LiftTensor, OfEra1) {
  EXPECT_EQ(
      meaning(R"({"Tensor": {"storage": {}, "tensor_spec": {"logical_shape": [1, 1, 12544, 32], "tensor_layout": {
      "dtype": "DataType::BFLOAT8_B", "page_config": {"config": {"tile": {"tile_shape": "{32, 32}", "face_shape": "{16, 16}",
      "num_faces": 4}}}, "memory_config": {"memory_layout": "TensorMemoryLayout::HEIGHT_SHARDED", "buffer_type": "BufferType::L1",
      "shard_spec": {"grid": [{"x": 0, "y": 0}, {"x": 7, "y": 6}], "shape": "{224, 32}", "orientation": "ShardOrientation::ROW_MAJOR"}},
      "alignment": [32, 32]}}, "storage_type": "StorageType::DEVICE"}})"),
      "tensor([1,1,12544,32] BFLOAT8_B DEVICE memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR) tile "
      "[32,32] {alignment=[32,32]})");
}

TEST(LiftTensor, OfReflectionText) {
  const auto page = [](const std::string& config) {
    return quoted_reflection(
        "Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape=Shape([]),tensor_layout=TensorLayout("
        "dtype="
        "DataType::UINT8,page_config=PageConfig(config=" +
        config +
        "),memory_config=MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1),"
        "alignment=Alignment([]))))");
  };
  const std::string end = " DEVICE memory(L1 INTERLEAVED) tile [32,32] {alignment=[]})";
  const std::string tile = "(tile=Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4))";
  EXPECT_EQ(page("TilePageConfig" + tile), "tensor([] UINT8 TILE" + end);  // rank 0, and the page config is the layout
  EXPECT_EQ(page("RowMajorPageConfig" + tile), "tensor([] UINT8 ROW_MAJOR" + end);
  EXPECT_NE(page("TilePageConfig(tile=Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=2))")
                .find("{alignment=[],num_faces=2}"),
            std::string::npos);
}

TEST(LiftTensor, APlacementOfAPythonRecord) {
  EXPECT_EQ(quoted_reflection("ttnn.Tensor(shape=Shape([4, 4]),dtype=DataType.FLOAT32,tensor_id=3)"),
            "tensor([4,4] FLOAT32)");
}

TEST(LiftTensor, AShapeThatCannotBeReadIsKept) {
  EXPECT_NE(meaning(R"({"type": "ttnn.Tensor", "shape": ["a"]})"),
            meaning(R"({"type": "ttnn.Tensor", "shape": ["b"]})"));
  EXPECT_NE(meaning(R"({"type": "ttnn.Tensor", "original_shape": [1], "shape": "odd"})"),
            meaning(R"({"type": "ttnn.Tensor", "original_shape": [1]})"));
}

TEST(LiftTensor, NothingOfAPlacementIsLost) {
  const auto placed = [](const std::string& placement) {
    return meaning(R"({"type": "ttnn.Tensor", "original_shape": [8, 8], "tensor_placement": )" + placement + "}");
  };
  EXPECT_NE(placed(R"({"placement": "[PlacementShard(0)]"})"), placed(R"({"placement": "[PlacementShard(1)]"})"));
  EXPECT_NE(placed(R"({"placement": [{"dim": 0}]})"), placed(R"({"placement": [{"dim": 1}]})"));
  EXPECT_NE(placed(R"({"distribution_shape": "[2]"})"), placed(R"({"distribution_shape": "[4]"})"));
  EXPECT_NE(placed(R"({"placement": "[]", "offset": 1})"), placed(R"({"placement": "[]", "offset": 2})"));
}

TEST(LiftTensor, NothingOfACppTensorIsLost) {
  EXPECT_NE(quoted_reflection("Tensor(storage=MultiDeviceHostStorage())"), quoted_reflection("Tensor()"));
  EXPECT_NE(quoted_reflection("Tensor(page_config=PageConfig(config=TilePageConfig(kind=1)))"),
            quoted_reflection("Tensor(page_config=PageConfig(config=TilePageConfig(kind=2)))"));
  EXPECT_NE(quoted_reflection("Tensor(page_config=PageConfig(kind=1))"), quoted_reflection("Tensor()"));
}

}  // namespace
}  // namespace opwright::format

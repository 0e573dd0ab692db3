#include "gentest/spell_value.h"

#include <gtest/gtest.h>

#include "dialect/ttnn/python_api.h"
#include "model/value_parse.h"

namespace opwright::gentest {
namespace {

std::string spelled(std::string_view text, std::string_view wanted = "") {
  const auto value = parse_value(text);
  if (!value) return "NOT PARSED " + value.error().message;
  const Checked<Python> made = spell_value(*value, wanted);
  return made ? on_one_line(*made) : "REFUSED " + made.error().message;
}

TEST(SpellValue, PlainValues) {
  EXPECT_EQ(spelled("none"), "None");
  EXPECT_EQ(spelled("true"), "True");
  EXPECT_EQ(spelled("-3"), "-3");
  EXPECT_EQ(spelled("0.5"), "0.5");
  EXPECT_EQ(spelled("-inf"), "float(\"-inf\")");
  EXPECT_EQ(spelled("[1,[2,3]]"), "[1, [2, 3]]");
  EXPECT_EQ(spelled("\"silu\""), "\"silu\"");
}

TEST(SpellValue, TextOfATraceIsNeverCode) {
  EXPECT_EQ(python_string("a\"\n\\\x01"), "\"a\\\"\\n\\\\\\x01\"");
  EXPECT_EQ(python_string("\xc3\xa9\xff\xf0\x9f\x98\x80"), "\"\\u00e9\\udcff\\U0001f600\"");
  EXPECT_EQ(spelled("MemoryLayout__.X;import os"),
            "NOT PARSED " + parse_value("MemoryLayout__.X;import os").error().message);
}

TEST(SpellValue, EnumsAreTheLibrarys) {
  EXPECT_EQ(spelled("DataType.BFLOAT8_B"), "ttnn.bfloat8_b");
  EXPECT_EQ(spelled("Layout.TILE"), "ttnn.TILE_LAYOUT");
  EXPECT_EQ(spelled("MathFidelity.HiFi2"), "ttnn.MathFidelity.HiFi2");
  EXPECT_EQ(spelled("SliceType.DRAM_HEIGHT"),
            "ttnn._ttnn.operations.sliding_window.Op2DSliceConfig.SliceTypeEnum.DRAMSliceHeight");
  EXPECT_EQ(spelled("MathFidelity.HiFi9"), "REFUSED ttnn has no MathFidelity.HiFi9");
  EXPECT_EQ(spelled("Nothing.X"), "REFUSED ttnn has no enum Nothing");
}

TEST(SpellValue, MemoryConfigs) {
  EXPECT_EQ(spelled("memory(DRAM INTERLEAVED)"), "ttnn.DRAM_MEMORY_CONFIG");
  EXPECT_EQ(spelled("memory(L1 INTERLEAVED)"), "ttnn.L1_MEMORY_CONFIG");
  EXPECT_EQ(
      spelled("memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)"),
      "ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, "
      "ttnn.ShardSpec(ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6))]), [224, 32], "
      "ttnn.ShardOrientation.ROW_MAJOR))");
  MemoryConfig lost;
  lost.layout.value = MemoryLayout::kHeightSharded;
  EXPECT_EQ(spell_memory(lost).error().message,
            "a memory config of which the trace lost the layout or the buffer type");
}

TEST(SpellValue, NdShards) {
  MemoryConfig memory;
  memory.layout.value = MemoryLayout::kNdSharded;
  memory.buffer.value = BufferType::kL1;
  memory.nd_shard.emplace();
  memory.nd_shard->grid = {{{0, 0}, {1, 1}}};
  memory.nd_shard->shape = {1, 32, 32};
  memory.nd_shard->orientation.value = Orientation::kRowMajor;
  memory.nd_shard->distribution = "GRID_2D";
  EXPECT_EQ(on_one_line(*spell_memory(memory)),
            "ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec(ttnn.Shape([1, 32, 32]), "
            "ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))]), "
            "ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardDistributionStrategy.GRID_2D))");
}

TEST(SpellValue, MembersGoToTheConstructorsParameters) {
  // Flags as numbers, a coordinate as a pair, a function by its enum; none where nothing was set.
  EXPECT_EQ(
      spelled("MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=[8,7],fuse_batch=1,"
              "fused_activation=UnaryOpType.SILU,in0_block_w=4,out_block_h=none,out_subblock_h=1,out_subblock_w=4,"
              "per_core_M=1,per_core_N=8,transpose_mcast=0)"),
      "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=ttnn.CoreCoord(8, 7), "
      "in0_block_w=4, out_subblock_h=1, out_subblock_w=4, per_core_M=1, per_core_N=8, transpose_mcast=False, "
      "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU), fuse_batch=True)");
  EXPECT_EQ(spelled("ComputeKernelConfig(math_fidelity=MathFidelity.LoFi,fp32_dest_acc_en=0)"),
            "ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=False)");
  EXPECT_EQ(spelled("WormholeComputeKernelConfig(math_fidelity=\"HiFi4\")"),
            "ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)");
  EXPECT_EQ(spelled("CoreGrid(x=8,y=4)"), "ttnn.CoreGrid(x=8, y=4)");
  EXPECT_EQ(spelled("UnaryWithParam(op_type=UnaryOpType.GELU,params=[1])"),
            "ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0)");
}

TEST(SpellValue, MembersThatNoConstructorTakesAreSet) {
  EXPECT_EQ(spelled("CoreGrid(x=8,y=4,num_cores=32)"), "with_fields(ttnn.CoreGrid(x=8, y=4), num_cores=32)");
}

TEST(SpellValue, WhatIsMissingIsRefused) {
  EXPECT_EQ(spelled("CoreGrid(x=8)"), "REFUSED a CoreGrid without y");
  EXPECT_EQ(spelled("Mystery(a=1)"), "REFUSED ttnn has no Mystery");
  EXPECT_EQ(spelled("opaque(GlobalCircularBuffer,\"<object at 0x1>\")"),
            "REFUSED a GlobalCircularBuffer of which the trace has only a text");
  EXPECT_EQ(spelled("{\"a\":1}"), "REFUSED a struct of which the trace lost the type");
  EXPECT_EQ(spelled("UnaryWithParam(op_type=17)"), "REFUSED a fused function of which the trace lost the name");
}

TEST(SpellValue, HandlesAreMadeAgain) {
  EXPECT_EQ(spelled("MeshDevice(shape=[1,2])"), "t.device");
  EXPECT_EQ(spelled("opaque(global_semaphore,\"x\")"), "t.semaphore()");
  EXPECT_EQ(spelled("opaque(SubDeviceId,\"SubDeviceId(3)\")"), "ttnn.SubDeviceId(3)");
}

TEST(ClassesWith, MembersSayTheType) {
  const auto value = parse_value(
      "{\"in0_block_w\":2,\"mcast_in0\":true,\"per_core_M\":1,\"per_core_N\":1,\"out_subblock_h\":1,"
      "\"out_subblock_w\":1,\"fuse_batch\":true,\"compute_with_storage_grid_size\":[8,8]}");
  ASSERT_TRUE(value);
  EXPECT_EQ(classes_with(*value->as_dict(), "ProgramConfig"),
            std::vector<std::string_view>{"MatmulMultiCoreReuseMultiCast1DProgramConfig"});
}

TEST(PythonApi, Tables) {
  ASSERT_NE(find_python_class("ttnn._ttnn.tensor.CoreCoord"), nullptr);
  EXPECT_EQ(find_python_class("ttnn._ttnn.tensor.CoreCoord")->path, "ttnn.CoreCoord");
  EXPECT_EQ(find_python_class("NoSuchThing"), nullptr);
  EXPECT_TRUE(has_golden_function("ttnn.add"));
  EXPECT_FALSE(has_golden_function("ttnn.no_such_op"));
  ASSERT_EQ(semaphores_of("ttnn.experimental.all_gather_async").size(), 2U);
  EXPECT_EQ(semaphores_of("ttnn.experimental.all_gather_async")[0].count, 2);
  EXPECT_TRUE(semaphores_of("ttnn.add").empty());
}

}  // namespace
}  // namespace opwright::gentest

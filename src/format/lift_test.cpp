// What arguments in every spelling mean. Memory configs, grids and tensors have lift_memory_test.cpp.
#include "format/lift.h"

#include <gtest/gtest.h>

#include <string>

namespace opwright::format {
namespace {

// "name=value" or "position=value" of each argument, joined by "; "; "error: …" when the form has the wrong shape.
std::string lifted(FormKind kind, std::string_view json, LiftNotes& notes) {
  json::Document document;
  const auto root = document.parse(json);
  EXPECT_TRUE(root) << json;
  const auto call = lift_call(kind, "ttnn.x", **root, notes);
  if (!call) return "error: " + call.error().message;
  std::string text;
  for (const CallArgument& argument : call->arguments) {
    if (!text.empty()) text += "; ";
    text += (argument.name.empty() ? std::to_string(argument.position) : argument.name) + "=" + to_text(argument.value);
  }
  return text;
}

std::string lifted(FormKind kind, std::string_view json) {
  LiftNotes notes;
  std::string text = lifted(kind, json, notes);
  EXPECT_EQ(notes.unparsed, 0u) << json;
  EXPECT_EQ(notes.unknown_names, 0u) << json;
  return text;
}

// The meaning of one JSON value.
std::string value_of(std::string_view json) {
  return lifted(FormKind::kEra2, "{\"k\": " + std::string(json) + "}").substr(2);
}

TEST(LiftEra1, ScalarsAreStringsThatMeanSomething) {
  EXPECT_EQ(
      lifted(
          FormKind::kEra1,
          R"([{"arg0": "nullopt"}, {"arg1": "3"}, {"arg2": "0.5"}, {"arg3": "[1, -2]"}, {"arg4": "DataType::BFLOAT16"},
                       {"arg5": "CACHE"}, {"arg6": "1e-05"}, {"arg7": "[]"}, {"arg8": "[[0, 1], [2, 3]]"}])"),
      "0=none; 1=3; 2=0.5; 3=[1,-2]; 4=DataType.BFLOAT16; 5=CACHE; 6=1e-05; 7=[]; 8=[[0,1],[2,3]]");
}

TEST(LiftEra1, ObjectsCarryTheirType) {
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"arg0": {"Shape": [1, 1, 32, 64]}}, {"arg1": {"SmallVector": [0, 2, 1]}}])"),
            "0=[1,1,32,64]; 1=[0,2,1]");
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"arg0": {"Topology": null}}, {"arg1": {"Tensor": null}}])"),
            R"(0=opaque(Topology,"..."); 1=opaque(Tensor,"..."))");
  EXPECT_EQ(
      lifted(FormKind::kEra1, R"([{"arg0": {"SDPAProgramConfig": {"compute_grid": [8, 8], "q": "std::nullopt"}}}])"),
      "0=SDPAProgramConfig(compute_grid=[8,8],q=none)");
}

TEST(LiftEra1, UnsupportedTypesAreKeptAsText) {
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"arg0": "[ unsupported type , std::reference_wrapper<x>]"}])"),
            R"(0=opaque(unsupported,"std::reference_wrapper<x>"))");
}

TEST(LiftEra1, UnparsedElementsAreReadAgain) {
  EXPECT_EQ(lifted(FormKind::kEra1,
                   R"([{"arg0": "1"}, {"UnparsedElement": {"error": "e", "element_info": "{\"arg1\": \"[1, 2]\"}"}}])"),
            "0=1; 1=[1,2]");
  LiftNotes notes;
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"UnparsedElement": {"error": "e", "element_info": "{{{ ]["}}])", notes),
            R"(0=opaque(UnparsedElement,"{{{ ]["))");
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"UnparsedElement": {"error": "e"}}])", notes),
            R"(0=opaque(UnparsedElement,""))");
  EXPECT_EQ(notes.unparsed, 2u);
  EXPECT_EQ(notes.unparsed_example, "{{{ ][");  // the first one
}

TEST(LiftEra1, APositionComesFromTheKeyElseFromTheOrder) {
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"arg4": "1"}, {"arg2": "2"}])"), "4=1; 2=2");
  EXPECT_EQ(lifted(FormKind::kEra1, R"([{"dim": "1"}])"), "dim=1");
}

TEST(LiftEra1, AnotherShapeIsAnError) {
  for (const char* json : {"{}", "3", "[3]", R"([{"a": 1, "b": 2}])", "[{}]"})
    EXPECT_EQ(lifted(FormKind::kEra1, json).substr(0, 6), "error:") << json;
}

TEST(LiftEra2, ScalarsKeepTheirKind) {
  EXPECT_EQ(
      lifted(FormKind::kEra2, R"({"arg1": 1, "arg0": 1.0, "dim": -1, "flag": true, "none": null, "mode": "nearest"})"),
      R"(0=1.0; 1=1; dim=-1; flag=true; mode="nearest"; none=none)");
  EXPECT_EQ(value_of("18446744073709551616"), "18446744073709551616");
  EXPECT_EQ(value_of("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(value_of("1e-400"), "0.0");
  EXPECT_EQ(value_of("[1, [2.5, \"x\"], []]"), R"([1,[2.5,"x"],[]])");
}

TEST(LiftEra2, SpecialFloatsInEverySpelling) {
  for (const char* json : {"Infinity", R"("inf")", R"("Infinity")", "1e999"}) EXPECT_EQ(value_of(json), "inf") << json;
  for (const char* json : {"-Infinity", R"("-inf")", R"("-Infinity")"}) EXPECT_EQ(value_of(json), "-inf") << json;
  for (const char* json : {"NaN", R"("nan")", R"("NaN")"}) EXPECT_EQ(value_of(json), "nan") << json;
  EXPECT_EQ(value_of(R"("information")"), R"("information")");
}

TEST(LiftEra2, Enums) {
  EXPECT_EQ(value_of(R"({"repr": "DataType.BFLOAT16", "type": "DataType"})"), "DataType.BFLOAT16");
  EXPECT_EQ(value_of(R"({"type": "Topology", "repr": "Topology.Linear"})"), "Topology.Linear");
  EXPECT_EQ(value_of(R"([{"repr": "UnaryOpType.SILU", "type": "UnaryOpType"}])"), "[UnaryOpType.SILU]");
  EXPECT_EQ(value_of(R"j({"op_type": 2, "@text": "UnaryWithParam(op_type=UnaryOpType::GELU, params=[1])"})j"),
            "UnaryWithParam(op_type=UnaryOpType.GELU,params=[1])");
  EXPECT_EQ(value_of(R"({"type": "DataType", "repr": "ttnn.DataType.BFLOAT16"})"), "DataType.BFLOAT16");
}

TEST(LiftEra2, PrintedObjects) {
  EXPECT_EQ(value_of(R"j({"type": "Shape", "value": "Shape([1, 1, 32, 64128])"})j"), "[1,1,32,64128]");
  EXPECT_EQ(value_of(R"j({"type": "Shape", "value": "Shape([])"})j"), "[]");
  EXPECT_EQ(value_of(R"({"type": "Tile", "value": "Tile with shape: [32, 32]"})"), "Tile(shape=[32,32])");
  EXPECT_EQ(value_of(R"j({"type": "CoreGrid", "value": "ttnn.CoreGrid(x=8, y=7)"})j"), "CoreGrid(x=8,y=7)");
  EXPECT_EQ(value_of(R"({"type": "PosixPath", "repr": "/weights/(a) [b]"})"), R"(PosixPath("/weights/(a) [b]"))");
  const std::string sdpa =
      "SDPAProgramConfig(compute_with_storage_grid_size=CoreCoord(x=8,y=8),q_chunk_size=0,sub_core_grids=none)";
  for (const char* grid : {"8-8", "(x=8,y=8)"}) {  // both builds print the same thing
    EXPECT_EQ(value_of(R"({"type": "SDPAProgramConfig", "value": "SDPAProgramConfig(compute_with_storage_grid_size=)" +
                       std::string(grid) + R"j(, sub_core_grids=std::nullopt, q_chunk_size=0)"})j"),
              sdpa);
  }
}

TEST(LiftEra2, SetsHaveNoOrder) {
  const std::string set = "set([MeshCoordinate([0,1]),MeshCoordinate([2,2])])";
  EXPECT_EQ(value_of(R"({"type": "set", "value": "{MeshCoordinate([2, 2]), MeshCoordinate([0, 1])}"})"), set);
  EXPECT_EQ(value_of(R"({"type": "set", "value": "{MeshCoordinate([0, 1]), MeshCoordinate([2, 2])}"})"), set);
  EXPECT_NE(value_of(R"({"type": "set", "value": "{MeshCoordinate([0, 2]), MeshCoordinate([2, 2])}"})"), set);
}

TEST(LiftEra2, AddressesAreCut) {
  EXPECT_EQ(value_of(R"({"type": "global_semaphore", "value": "<ttnn._ttnn.global_semaphore object at 0x7f12aB>"})"),
            R"(opaque(global_semaphore,"<ttnn._ttnn.global_semaphore object>"))");
  EXPECT_EQ(value_of(R"("a <f at 0x12> b <g at 0xff>")"), R"("a <f> b <g>")");
  EXPECT_EQ(without_addresses("look at 0xyz and at 0x"), "look at 0xyz and at 0x");  // no digits: no address
  EXPECT_EQ(without_addresses(""), "");
}

TEST(LiftEra2, ConfigsWithAndWithoutTheirType) {
  EXPECT_EQ(value_of(R"({"math_fidelity": "MathFidelity.HiFi2", "math_approx_mode": "False", "fp32_dest_acc_en": true,
                         "throttle_level": "ThrottleLevel.NO_THROTTLE"})"),
            "ComputeKernelConfig(fp32_dest_acc_en=true,math_approx_mode=false,math_fidelity=MathFidelity.HiFi2,"
            "throttle_level=ThrottleLevel.NO_THROTTLE)");
  EXPECT_EQ(value_of(R"({"in0_block_w": 16, "fused_activation": "None"})"),
            R"({"fused_activation":none,"in0_block_w":16})");
  EXPECT_EQ(value_of(R"({"type": "MatmulProgramConfig", "in0_block_w": 16, "grid": {"x": 8, "y": 7}})"),
            "MatmulProgramConfig(grid=CoreCoord(x=8,y=7),in0_block_w=16)");
}

TEST(LiftEra2, AMeshDeviceIsItsShapeNotItsIds) {
  EXPECT_EQ(value_of(R"j({"type": "MeshDevice", "repr": "MeshDevice(1x2)", "shape": [1, 2], "device_ids": [4, 5]})j"),
            "MeshDevice(shape=[1,2])");
}

TEST(LiftEra2, WhatNoGrammarReadsIsKeptAndCounted) {
  LiftNotes notes;
  EXPECT_EQ(lifted(FormKind::kEra2, R"({"a": {"type": "T", "repr": "T(a=1"}})", notes), R"(a=opaque(T,"T(a=1"))");
  EXPECT_EQ(notes.unparsed, 1u);
  EXPECT_EQ(notes.unparsed_example, "T(a=1");
}

TEST(LiftOpJsonl, MarkedValues) {
  EXPECT_EQ(lifted(FormKind::kOpJsonl,
                   R"j({"inputs": [{"__type__": "ttnn.TensorRef", "shape": [1, 32], "dtype": "DataType.BFLOAT16"}, 2],
                       "kwargs": {"dtype": {"__enum__": "ttnn.DataType", "name": "FLOAT32"},
                                  "c": {"__type__": "ttnn.CoreGrid", "fields": {"x": 1}},
                                  "r": {"__type__": "repr", "value": "Shape([1, 2])"}, "n": null}})j"),
            "0=tensor([1,32] BFLOAT16); 1=2; c=CoreGrid(x=1); dtype=DataType.FLOAT32; n=none; r=[1,2]");
  EXPECT_EQ(lifted(FormKind::kOpJsonl, R"({"inputs": [], "kwargs": {"m": {"__type__": "ttnn.MemoryConfig",
                    "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"},
                    "d": {"__type__": "ttnn.MeshDevice", "shape": [2, 4], "device_ids": [0]}}})"),
            "d=MeshDevice(shape=[2,4]); m=memory(DRAM INTERLEAVED)");
  EXPECT_EQ(lifted(FormKind::kOpJsonl, R"({"kwargs": {}})"), "error: 'inputs' is not an array");
}

TEST(LiftOpJsonl, KeywordsThatAreNoObjectAreAnError) {
  EXPECT_EQ(lifted(FormKind::kOpJsonl, R"({"inputs": [], "kwargs": [1, 2]})").substr(0, 6), "error:");
}

TEST(LiftGraph, TextsAndTensors) {
  EXPECT_EQ(lifted(FormKind::kGraph,
                   R"j(["nullopt", "Shape([1, 2])", {"Tensor": {"shape": [1], "dtype": "DataType::UINT8"}}, "3"])j"),
            "0=none; 1=[1,2]; 2=tensor([1] UINT8); 3=3");
  EXPECT_EQ(lifted(FormKind::kGraph, "{}").substr(0, 6), "error:");
}

TEST(LiftPythonIo, NumbersArePositionsAndTextsAreReflection) {
  EXPECT_EQ(lifted(FormKind::kPythonIo,
                   R"({"0": "[1, 2]", "1": "True", "dtype": "DataType.BFLOAT16", "dim": "-1", "x": "None"})"),
            "0=[1,2]; 1=true; dim=-1; dtype=DataType.BFLOAT16; x=none");
}

TEST(Lift, OfDuplicateKeysTheLastCounts) {
  EXPECT_EQ(lifted(FormKind::kEra2, R"({"a": 1, "a": 2})"), "a=2");
  EXPECT_EQ(value_of(R"({"a": 1, "a": 2})"), R"({"a":2})");
}

TEST(Lift, OnlyPlainNumbersArePositions) {
  EXPECT_EQ(lifted(FormKind::kEra2, R"({"arg-0": 1})"), "arg-0=1");
  EXPECT_EQ(lifted(FormKind::kEra2, R"({"arg01": 1})"), "arg01=1");
  EXPECT_EQ(lifted(FormKind::kPythonIo, R"({"12345678": "1"})"), "12345678=1");
}

TEST(Lift, AMemoryConfigThatNamesItsTypeIsAMemoryConfig) {
  EXPECT_EQ(value_of(R"({"type": "MemoryConfig", "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"})"),
            "memory(DRAM INTERLEAVED)");
}

}  // namespace
}  // namespace opwright::format

#include "normalize/normalize.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/json_write.h"

namespace opwright::embedded {
extern const std::string_view kTtnnSignatures;
extern const std::string_view kAtenSignatures;
}  // namespace opwright::embedded

namespace opwright::normalize {
namespace {

std::string text_of(std::string_view arguments, FormKind kind = FormKind::kEra2, std::string_view op = "ttnn.add") {
  Normalizer normalizer;
  format::LiftNotes notes;
  const auto config = normalizer.normalize(kind, op, arguments, notes);
  if (!config) return "error: " + config.error().message;
  EXPECT_EQ(config->key, key_of(canonical_text(*config)));
  return canonical_text(*config);
}

// ---- promises: these may only change together with kKeyVersion
// -------------------------------------------------------

TEST(Identity, TheTableOfSignaturesBelongsToTheKeyVersion) {
  // Another table gives other keys for the same calls. If you change it, raise kKeyVersion, then this number.
  EXPECT_EQ(kKeyVersion, 1);
  EXPECT_EQ(xxh64(embedded::kTtnnSignatures), 8585943758174729939u);
  EXPECT_EQ(xxh64(embedded::kAtenSignatures), 6215346533221005768u);
}

// Of another dialect other rules hold, whichever format carried the call.
TEST(Identity, ADialectHasItsOwnNamesAndForms) {
  constexpr std::string_view kWanted =
      "1:python:aten.clamp(self=tensor(torch.Tensor [2,3] dtype=FLOAT16 {device=\"cuda:0\"}),min=none,max=6.0)";
  const auto tensor = [](std::string_view dtype, std::string_view more) {
    return fmt::format(R"({{"type": "torch.Tensor", "shape": [2, 3], "dtype": "{}", "device": "cuda:0"{}}})", dtype,
                       more);
  };
  const std::string plain = tensor("torch.float16", "");
  const std::string said = tensor("torch.half", R"(, "strides": [3, 1], "storage_offset": 0)");
  const std::string by_place = R"({"arg0": )" + plain + R"(, "arg1": null, "arg2": 6.0})";
  const std::string by_name = R"({"self": )" + said + R"(, "max": 6.0, "min": null})";
  for (const char* op : {"aten::clamp", "aten.clamp", "aten.clamp.default"})
    for (const std::string& arguments : {by_place, by_name})
      EXPECT_EQ(text_of(arguments, FormKind::kEra2, op), kWanted) << op << ' ' << arguments;
  EXPECT_EQ(
      text_of(R"({"inputs": [)" + said + R"(, null], "kwargs": {"max": 6.0}})", FormKind::kOpJsonl, "aten::clamp"),
      kWanted);
  EXPECT_NE(text_of(by_place, FormKind::kEra2, "aten.clamp.Tensor"), kWanted);
  const std::string turned = R"({"arg0": )" + tensor("torch.float16", R"(, "strides": [1, 2])") + "}";
  EXPECT_EQ(text_of(turned, FormKind::kEra2, "aten.relu"),
            "1:python:aten.relu(self=tensor(torch.Tensor [2,3] dtype=FLOAT16 {device=\"cuda:0\",strides=[1,2]}))");
  // The same words in front of another dialect, or of none, are kept as they are.
  EXPECT_EQ(text_of(by_name, FormKind::kEra2, "mylib.clamp.default"),
            "1:python:mylib.clamp.default(max=6.0,min=none,self=tensor(torch.Tensor [2,3] dtype=HALF "
            "{device=\"cuda:0\",storage_offset=0,strides=[3,1]}))");
  EXPECT_EQ(text_of(R"({"barrier_semaphore": 1})", FormKind::kEra2, "aten.relu"),
            "1:python:aten.relu(barrier_semaphore=1)");
  EXPECT_EQ(text_of(R"({"barrier_semaphore": 1})", FormKind::kEra2, "ttnn.relu"), "1:python:ttnn.relu()");
}

TEST(Identity, GoldenKeys) {
  const auto key = [](std::string_view op, FormKind kind, std::string_view arguments) {
    Normalizer normalizer;
    format::LiftNotes notes;
    return to_hex(normalizer.normalize(kind, op, arguments, notes)->key);
  };
  EXPECT_EQ(key("ttnn.add", FormKind::kEra2, R"({"arg0": {"type": "ttnn.Tensor", "original_shape": [1, 1, 32, 64],
      "original_dtype": "DataType.BFLOAT16", "layout": "Layout.TILE", "storage_type": "StorageType.DEVICE", "memory_config": {
      "memory_layout": "TensorMemoryLayout.INTERLEAVED", "buffer_type": "BufferType.DRAM", "shard_spec": null}}, "arg1": 0.5})"),
            "38f0b04248d07773ccd536869502d6e8f8bc89205b04c3c2dfe40dd0d1b69e0d");
  EXPECT_EQ(key("ttnn::sigmoid_accurate", FormKind::kEra1, R"([{"arg0": {"Tensor": {"storage": {}, "tensor_spec": {
      "logical_shape": [1, 1, 12544, 32], "tensor_layout": {"dtype": "DataType::BFLOAT8_B", "page_config": {"config": {"tile": {
      "tile_shape": "{32, 32}", "face_shape": "{16, 16}", "num_faces": 4}}}, "memory_config": {"memory_layout":
      "TensorMemoryLayout::HEIGHT_SHARDED", "buffer_type": "BufferType::L1", "shard_spec": {"grid": [{"x": 0, "y": 0}, {"x": 7,
      "y": 6}], "shape": "{224, 32}", "orientation": "ShardOrientation::ROW_MAJOR"}}, "alignment": [32, 32]}}}}}, {"arg1": "nullopt"}])"),
            "3ba613c5a8627d0c2966ecc7ac605953714d62cd6919e92807a26eaafc91be91");
  EXPECT_EQ(key("ttnn.experimental.all_gather_async", FormKind::kOpJsonl, R"j({"inputs": [{"__type__": "ttnn.TensorRef",
      "shape": [1, 8], "dtype": "FLOAT32"}], "kwargs": {"dim": 3, "topology": {"__enum__": "Topology", "name": "Linear"},
      "eps": 1e-05, "mesh_coords": {"type": "set", "value": "{MeshCoordinate([1, 0]), MeshCoordinate([0, 0])}"}}})j"),
            "4ee37d77f3e675a673c16a0fc757706ba17e031d2882d5390a37177284f502b8");
}

TEST(Identity, TheTextBeginsWithVersionAndConvention) {
  EXPECT_EQ(text_of(R"({"arg0": 1, "arg1": 2})"), "1:python:ttnn.add(input_tensor_a=1,input_tensor_b=2)");
  EXPECT_EQ(text_of(R"([{"arg0": "1"}, {"arg1": "2"}])", FormKind::kEra1, "ttnn::add"),
            "1:cpp:ttnn.add(arg0=1,arg1=2)");
  EXPECT_EQ(text_of("{}"), "1:python:ttnn.add()");
}

// ---- what is the same
// ------------------------------------------------------------------------------------------------

TEST(Identity, PositionAndKeywordAreOne) {
  const std::string expected = text_of(R"({"arg0": 1, "arg1": 2})");
  EXPECT_EQ(text_of(R"({"arg0": 1, "input_tensor_b": 2})"), expected);
  EXPECT_EQ(text_of(R"({"input_tensor_b": 2, "input_tensor_a": 1})"), expected);
  EXPECT_EQ(text_of(R"({"inputs": [1], "kwargs": {"input_tensor_b": 2}})", FormKind::kOpJsonl), expected);
  EXPECT_EQ(text_of(R"({"0": "1", "input_tensor_b": "2"})", FormKind::kPythonIo), expected);
  EXPECT_NE(text_of(R"({"arg0": 2, "arg1": 1})"), expected);
}

TEST(Identity, WithoutASignatureAPositionStaysANumber) {
  EXPECT_EQ(text_of(R"({"arg1": 2, "b": 3, "arg0": 1, "a": 4, "arg10": 5})", FormKind::kEra2, "my.op"),
            "1:python:my.op(arg0=1,arg1=2,arg10=5,a=4,b=3)");
  EXPECT_EQ(text_of(R"({"arg0": 1, "arg1": 2, "arg2": 3, "zeta": 1, "alpha": 2})"),  // behind the end of the signature
            "1:python:ttnn.add(input_tensor_a=1,input_tensor_b=2,arg2=3,alpha=2,zeta=1)");
}

TEST(Identity, TheOrderOfKeysAndWhiteSpaceSayNothing) {
  EXPECT_EQ(text_of(R"({"arg0":1,"k":{"b":1,"a":[1,2]},"j":{"type":"T","y":1,"x":2}})"),
            text_of("{ \"j\" : {\"x\":2, \"y\":1, \"type\":\"T\"},\n\"k\": {\"a\": [1, 2], \"b\": 1}, \"arg0\": 1}"));
}

TEST(Identity, HandlesOfARunNeverEnterAsKeywords) {
  EXPECT_EQ(text_of(R"({"arg0": 1, "barrier_semaphore": {"type": "s"}, "multi_device_global_semaphore": [1]})"),
            text_of(R"({"arg0": 1})"));
  EXPECT_NE(text_of(R"({"arg0": 1, "semaphore": 1})"), text_of(R"({"arg0": 1})"));
}

// ---- what enters, field by field
// -------------------------------------------------------------------------------------

// A configuration with one of everything; %NAME% marks a place that a test fills.
struct Place {
  const char* name;
  const char* usual;
  const char* other;
};
constexpr Place kEntering[] = {
    {"SHAPE", "[1, 1, 32, 64]", "[1, 1, 64, 32]"},
    {"DTYPE", "\"DataType.BFLOAT16\"", "\"DataType.FLOAT32\""},
    {"LAYOUT", "\"Layout.TILE\"", "\"Layout.ROW_MAJOR\""},
    {"STORAGE", "\"StorageType.DEVICE\"", "\"StorageType.HOST\""},
    {"MEMORY_LAYOUT", "\"TensorMemoryLayout.WIDTH_SHARDED\"", "\"TensorMemoryLayout.HEIGHT_SHARDED\""},
    {"BUFFER", "\"BufferType.L1\"", "\"BufferType.DRAM\""},
    {"GRID_END", "7", "6"},
    {"SHARD_SHAPE", "[32, 32]", "[32, 64]"},
    {"ORIENTATION", "\"ROW_MAJOR\"", "\"COL_MAJOR\""},
    {"FLAG", "1", "2"},
    {"PLACEMENT", "\"['PlacementShard(2)']\"", "\"['PlacementReplicate']\""},
    {"DISTRIBUTION", "\"[2]\"", "\"[4]\""},
    {"MESH", "\"[1, 2]\"", "\"[2, 1]\""},
    {"OTHER_FIELD", "1", "2"},
    {"DIM", "-1", "1"},
    {"EPSILON", "1e-05", "1e-06"},
    {"BIG", "18446744073709551616", "18446744073709551617"},
    {"TEXT", "\"nearest\"", "\"bilinear\""},
    {"ENUM", "\"Topology.Linear\"", "\"Topology.Ring\""},
    {"BLOCK", "16", "8"},
    {"NOTHING", "null", "0"},
    {"BOOL", "true", "1"},
    {"SET", "\"{MeshCoordinate([0, 0])}\"", "\"{MeshCoordinate([0, 1])}\""}};
constexpr Place kNotEntering[] = {{"HASH", "17", "18446744073709551615"},
                                  {"IDS", "[0, 1]", "[4, 5]"},
                                  {"TENSOR_ID", "1", "2"},
                                  {"ALLOCATED", "true", "false"},
                                  {"DEVICE_ID", "0", "3"},
                                  {"ADDRESS", "4096", "8192"},
                                  {"AT", "0x7f00aa", "0x1"},
                                  {"IS_SHARDED", "true", "false"}};

std::string filled(std::string_view place, bool other) {
  std::string text =
      R"j({"arg0": {"type": "ttnn.Tensor", "original_shape": %SHAPE%, "original_dtype": %DTYPE%, "layout": %LAYOUT%,
    "storage_type": %STORAGE%, "tensor_id": %TENSOR_ID%, "is_allocated": %ALLOCATED%, "device_id": %DEVICE_ID%, "address": %ADDRESS%,
    "colour": %OTHER_FIELD%, "memory_config": {"memory_layout": %MEMORY_LAYOUT%, "buffer_type": %BUFFER%, "hash": %HASH%,
      "is_sharded": %IS_SHARDED%, "flag": %FLAG%, "shard_spec": {"grid": [{"start": {"x": 0, "y": 0}, "end": {"x": %GRID_END%, "y": 0}}],
      "shape": %SHARD_SHAPE%, "orientation": %ORIENTATION%}},
    "tensor_placement": {"placement": %PLACEMENT%, "distribution_shape": %DISTRIBUTION%, "mesh_device_shape": %MESH%}},
  "dim": %DIM%, "epsilon": %EPSILON%, "big": %BIG%, "mode": %TEXT%, "topology": {"type": "Topology", "repr": %ENUM%},
  "program": {"type": "P", "in0_block_w": %BLOCK%}, "nothing": %NOTHING%, "bool": %BOOL%, "coords": {"type": "set", "value": %SET%},
  "device": {"type": "MeshDevice", "repr": "x", "shape": [1, 2], "device_ids": %IDS%},
  "fn": {"type": "function", "repr": "<function f at %AT%>"}})j";
  const auto fill = [&](const Place& p) {
    const std::string mark = "%" + std::string(p.name) + "%";
    const std::size_t at = text.find(mark);
    ASSERT_NE(at, std::string::npos) << mark;
    text.replace(at, mark.size(), other && place == p.name ? p.other : p.usual);
  };
  for (const Place& p : kEntering) fill(p);
  for (const Place& p : kNotEntering) fill(p);
  EXPECT_EQ(text.find('%'), std::string::npos);
  return text;
}

TEST(Identity, EveryParameterEnters) {
  std::set<std::string> texts{text_of(filled("", false))};
  ASSERT_EQ(texts.begin()->substr(0, 2), "1:") << *texts.begin();
  for (const Place& p : kEntering)
    EXPECT_TRUE(texts.insert(text_of(filled(p.name, true))).second) << p.name;  // unlike all others
}

TEST(Identity, WhatBelongsToOneRunNeverEnters) {
  const std::string usual = text_of(filled("", false));
  for (const Place& p : kNotEntering) EXPECT_EQ(text_of(filled(p.name, true)), usual) << p.name;
}

TEST(Identity, AnArgumentThatWasNotPassedIsNotNone) {
  EXPECT_NE(text_of(R"({"arg0": 1, "dtype": null})"), text_of(R"({"arg0": 1})"));
}

TEST(Identity, ShufflingTheArgumentsKeepsTheKey) {
  const std::string usual = filled("", false);
  const std::string expected = text_of(usual);
  json::Document document;
  const json::Node& root = **document.parse(usual);
  std::vector<std::string> arguments;
  for (std::uint32_t i = 0; i < root.count; ++i) {
    arguments.push_back("\"" + std::string(root.fields[i].key) + "\": ");
    json::append_python(arguments.back(), root.fields[i].value, {});
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(arguments.begin(), arguments.end(), random);
    std::string text;
    for (const std::string& argument : arguments) text += (text.empty() ? "{" : ", ") + argument;
    EXPECT_EQ(text_of(text + "}"), expected);
  }
}

TEST(Identity, NoNameCanLookLikeTwoArguments) {
  EXPECT_NE(text_of(R"({"a=1,b": 2})"), text_of(R"({"a": 1, "b": 2})"));
  EXPECT_NE(text_of("{}", FormKind::kEra2, "f(a=1)"), text_of(R"({"a": 1})", FormKind::kEra2, "f"));
  EXPECT_EQ(text_of(R"({"a\nb": 2})").find('\n'), std::string::npos);
}

TEST(Identity, AWrongFormIsAnError) {
  EXPECT_EQ(text_of("[1]").substr(0, 6), "error:");
  EXPECT_EQ(text_of("{", FormKind::kEra2).substr(0, 6), "error:");
  EXPECT_EQ(text_of("{}", FormKind::kEra1).substr(0, 6), "error:");
}

}  // namespace
}  // namespace opwright::normalize

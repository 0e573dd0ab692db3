#include "model/call_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "model/bound_call.h"
#include "model/test_tensors.h"
#include "model/value_parse.h"

namespace opwright {
namespace {

Result<Value> decoded(const std::string& text) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return fail(ErrorCode::kBadInput, root.error().what);
  return decode_value(**root);
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, GivesTheSameValue) {
  const auto value = parse_value(GetParam());
  ASSERT_TRUE(value) << value.error().message;
  const std::string text = encode_value(*value);
  const auto again = decoded(text);
  ASSERT_TRUE(again) << text << "\n" << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(*value)) << text;
}

// Of every kind that traces of either era hold.
INSTANTIATE_TEST_SUITE_P(
    Values, RoundTrip,
    testing::Values(
        "none", "true", "-7", "123456789012345678901234567890", "0.5", "-1e-05", "inf", "-inf", "nan",
        "\"it's \\\"so\\\" — é\"", "DataType.BFLOAT16", "Layout.TILE", "MathFidelity.HiFi4", "bilinear",
        "[1,[2,none],[]]", "{\"in0_block_w\":8,\"x y\":[1]}", "{}", "opaque(unsupported,\"std::tuple<int>\")",
        "opaque(MeshDevice,\"{ptr}\")", "memory(DRAM INTERLEAVED)",
        "memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)",
        "memory(L1 ND_SHARDED nd_shard [1,32,64] on (0,0)-(3,0)+(0,1)-(1,1) COL_MAJOR distribution=ROUND_ROBIN_1D)",
        "memory(L1 WIDTH_SHARDED shard [32,64] on (0,0)-(7,0) ROW_MAJOR {created_with_nd_shard_spec=1})",
        "tensor([1,1,12544,32] BFLOAT8_B TILE DEVICE memory(DRAM INTERLEAVED))",
        "tensor([1,1,7,5] BFLOAT16 memory(DRAM INTERLEAVED) tile [16,32] {alignment=[32,32]})",
        "tensor(torch.Tensor [2,3])",
        "tensor([1,8,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED) {deallocated=true})",
        "ComputeKernelConfig(math_fidelity=MathFidelity.HiFi4,fp32_dest_acc_en=true)",
        "WormholeComputeKernelConfig(math_fidelity=\"LoFi\",math_approx_mode=0,throttle_level=ThrottleLevel.NO_"
        "THROTTLE)",
        "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=CoreCoord(x=8,y=7),in0_block_w=4,"
        "fused_activation=none)",
        "SDPAProgramConfig(compute_with_storage_grid_size=[8,8],exp_approx_mode=none)",
        "Conv2dConfig(weights_dtype=DataType.BFLOAT16,activation=UnaryWithParam(op_type=UnaryOpType.GELU,param=[0]))",
        "CoreGrid(x=8,y=7)", "CoreCoord(x=1,y=2)", "CoreRangeSet([[0,0,7,6],[0,7,3,7]])", "Tile(shape=[32,32])",
        "set([MeshCoordinate([0,0]),MeshCoordinate([1,0])])", "MeshDevice(shape=[4,8])", "Odd(1,b=2,type=3)",
        "SmallProgramConfig(type=1)", "Empty()"));

TEST(CallJson, PlacementsGoBothWays) {
  TensorSpec spec = tensor({1, 1, 32, 64});
  spec.placement = Placement{{"Shard(2)", "Replicate"}, {4, 8}, {4, 8}};
  spec.device_shape = Shape{1, 1, 32, 8};
  spec.type = "torch.Tensor";
  const auto again = decoded(encode_value(Value::tensor(spec)));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(Value::tensor(spec)));
  ASSERT_TRUE(again->as_tensor()->placement);
  EXPECT_EQ(again->as_tensor()->placement->dims, spec.placement->dims);
  EXPECT_EQ(again->as_tensor()->placement->mesh, spec.placement->mesh);
  EXPECT_EQ(again->as_tensor()->device_shape, spec.device_shape);
}

TEST(CallJson, ATensorWithoutShapeStaysWithoutOne) {
  TensorSpec spec;
  spec.dtype.value = DType::kBfloat16;
  const auto again = decoded(encode_value(Value::tensor(spec)));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->as_tensor()->has_shape);
  EXPECT_FALSE(decoded(R"({"tensor": {"dtype": "BFLOAT16"}})"));  // left out is another thing than lost
}

TEST(CallJson, ConfigsAreWrittenAsOracleFilesHaveThem) {
  const auto value =
      parse_value("MatmulProgramConfig(compute_with_storage_grid_size=CoreCoord(x=8,y=7),in0_block_w=4)");
  ASSERT_TRUE(value);
  EXPECT_EQ(encode_value(*value), R"({"program_config": {"type": "MatmulProgramConfig", )"
                                  R"("compute_with_storage_grid_size": [8, 7], "in0_block_w": 4}})");
}

std::vector<Argument> arguments(std::initializer_list<std::pair<const char*, Value>> given) {
  std::vector<Argument> out;
  for (const auto& [name, value] : given) out.push_back({name, value});
  return out;
}

TEST(CallJson, PositionsComeBeforeNames) {
  const auto args = arguments({{"arg0", Value(std::int64_t{1})}, {"dim", Value(std::int64_t{-1})}});
  const auto text = encode_call("ttnn.softmax", args);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, R"({"op": "ttnn.softmax", "args": [1], "kwargs": {"dim": -1}})");
  json::Document document;
  const auto config = decode_call(**document.parse(*text));
  ASSERT_TRUE(config);
  ASSERT_EQ(config->args.size(), 2U);
  EXPECT_EQ(config->args[0].name, "arg0");
  EXPECT_EQ(config->args[1].name, "dim");
}

TEST(CallJson, AnArgumentNamedBeforeAPositionalOneGoesByItsPosition) {
  const auto args = arguments({{"input_tensor", Value(std::int64_t{1})}, {"arg1", Value(std::int64_t{2})}});
  EXPECT_EQ(*encode_call("ttnn.sum", args), R"({"op": "ttnn.sum", "args": [1, 2], "kwargs": {}})");
}

TEST(CallJson, AMissingPositionIsAnError) {
  const auto args = arguments({{"arg0", Value(std::int64_t{1})}, {"arg2", Value(std::int64_t{2})}});
  const auto text = encode_call("ttnn.sum", args);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("arg2"), std::string::npos) << text.error().message;
}

TEST(CallJson, SlotsCountTensorsInTheOrderOfTheCall) {
  const Value one = Value::tensor(tensor({1})), two = Value::tensor(tensor({2})), three = Value::tensor(tensor({3}));
  const BoundCall call("ttnn.concat", Convention::kPython,
                       arguments({{"tensors", Value(List{one, two})}, {"other", three}}));
  const auto text = encode_call(call.op, call.args, true);
  ASSERT_TRUE(text);
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const std::string wanted =
        "{\"slot\": " + std::to_string(i) + ", \"shape\": [" + std::to_string(call.tensors[i].spec.shape[0]) + "]";
    EXPECT_NE(text->find(wanted), std::string::npos) << *text;
  }
}

TEST(CallJson, OutputsCarryTheirPaddedShape) {
  const OutputSpec output{tensor({1, 1, 33, 5}), {1, 1, 64, 32}, ""};
  json::Document document;
  const auto again = decode_output(**document.parse(encode_output(output)));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->padded, (Shape{1, 1, 64, 32}));
  EXPECT_EQ(to_text(again->spec), to_text(output.spec));
}

TEST(CallJson, AConfigOrKeywordsThatAreAListAreNoObject) {
  json::Document document;
  for (const char* tag : {"compute_kernel_config", "conv_config", "core_grid", "program_config"}) {
    const auto parsed = document.parse(std::string("{\"") + tag + "\": [1, 2]}");
    ASSERT_TRUE(parsed);
    EXPECT_FALSE(decode_value(**parsed)) << tag;
  }
  const auto call = document.parse(R"({"op": "ttnn.add", "args": {"a": 1}, "kwargs": [1, 2]})");
  ASSERT_TRUE(call);
  const auto config = decode_call(**call);
  EXPECT_TRUE(!config || config->args.empty());
}

}  // namespace
}  // namespace opwright

// Element-wise operators: what they refuse, what they return, and their exact results.
#include "ops/shared/eltwise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ops/all_ops.h"
#include "ops/shared/unary_exact.h"

namespace opwright {
namespace {

Board board() { return *find_board("n150"); }

MemoryConfig interleaved_in(BufferType buffer) {
  MemoryConfig out;
  out.layout.value = MemoryLayout::kInterleaved;
  out.buffer.value = buffer;
  return out;
}

MemoryConfig height_sharded(Shape shape, std::int64_t cores) {
  MemoryConfig out;
  out.layout.value = MemoryLayout::kHeightSharded;
  out.buffer.value = BufferType::kL1;
  out.shard = ShardSpec{
      .grid = {{{0, 0}, {cores - 1, 0}}}, .shape = std::move(shape), .orientation = {}, .distribution = {}, .more = {}};
  out.shard->orientation.value = Orientation::kRowMajor;
  return out;
}

Value tensor(Shape shape, DType dtype = DType::kBfloat16, MemoryConfig memory = interleaved_in(BufferType::kDram)) {
  return Value::tensor(eltwise::device_tensor(std::move(shape), dtype, Layout::kTile, std::move(memory)));
}

Checked<BoundCall> bound(std::string op, std::vector<Argument> args) {
  const OpSpec* spec = find_op(op);
  return bind(*spec, OpConfig{.op = op, .convention = Convention::kPython, .args = std::move(args), .key = {}});
}

Checked<std::vector<OutputSpec>> infer(std::string op, std::vector<Argument> args) {
  auto call = bound(op, std::move(args));
  if (!call) return refuse(call.error());
  return find_op(op)->infer(*call, board());
}

std::string message(const Checked<std::vector<OutputSpec>>& result) {
  return result ? "accepted" : result.error().message;
}

TEST(Eltwise, BroadcastOutput) {
  const auto out = infer("ttnn.add", {{"arg0", tensor({2, 1, 32, 64})}, {"arg1", tensor({32, 1}, DType::kBfloat8B)}});
  ASSERT_TRUE(out) << message(out);
  EXPECT_EQ((*out)[0].spec.shape, (Shape{2, 1, 32, 64}));
  EXPECT_EQ((*out)[0].spec.dtype.value, DType::kBfloat16);
}

// Overloads of the library call one operand by several names; the values are those of the usual one.
TEST(Eltwise, OperandsUnderTheNamesOfEveryOverload) {
  const Value x = tensor({1, 1, 32, 64});
  for (const auto& [op, a, b] : std::vector<std::array<std::string, 3>>{
           {"ttnn.multiply_", "arg0", "arg1"},
           {"ttnn.multiply_", "input_a", "input_b"},
           {"ttnn.multiply_", "input_tensor_a", "input_tensor_b"},
           {"ttnn.maximum", "input_tensor_a", "input_b"},
           {"ttnn.maximum", "input_tensor_a", "input_tensor_b"},
           {"ttnn.minimum", "arg0", "input_b"},
           {"ttnn.div", "input_tensor_a", "value"},
       }) {
    const auto out = infer(op, {{a, x}, {b, Value(2.0)}});
    ASSERT_TRUE(out) << op << "(" << a << ", " << b << "): " << message(out);
    EXPECT_EQ((*out)[0].spec.shape, (Shape{1, 1, 32, 64}));
  }
  EXPECT_EQ(message(infer("ttnn.multiply_", {{"input_a", x}})),
            "ttnn.multiply_(): incompatible function arguments: 'input_b' is missing");
}

TEST(Eltwise, BroadcastRuleNamesTheDimension) {
  EXPECT_EQ(message(infer("ttnn.add", {{"arg0", tensor({2, 1, 32, 64})}, {"arg1", tensor({3, 1, 32, 64})}})),
            "Broadcasting rule violation at dimension index -4 (output rank 4), dim a: 2, dim b: 3");
}

TEST(Eltwise, DtypesTogether) {
  const auto mixed = [](std::string op, DType a, DType b) {
    return message(infer(std::move(op), {{"arg0", tensor({32, 32}, a)}, {"arg1", tensor({32, 32}, b)}}));
  };
  EXPECT_EQ(mixed("ttnn.add", DType::kInt32, DType::kInt32), "accepted");
  EXPECT_EQ(
      mixed("ttnn.add", DType::kBfloat16, DType::kInt32),
      "Mixed dtype is not supported for binary operation BinaryOpType::ADD, dtype A: DataType::BFLOAT16, dtype B: "
      "DataType::INT32");
  EXPECT_EQ(mixed("ttnn.multiply", DType::kBfloat16, DType::kInt32), "accepted");
  EXPECT_EQ(mixed("ttnn.maximum", DType::kBfloat16, DType::kFloat32).substr(0, 11), "Mixed dtype");
  EXPECT_EQ(mixed("ttnn.gt", DType::kUint8, DType::kUint16), "accepted");
}

TEST(Eltwise, IntegersDivideIntoFloats) {
  const auto out = infer("ttnn.div", {{"arg0", tensor({32, 32}, DType::kInt32)}, {"arg1", Value(std::int64_t{8})}});
  ASSERT_TRUE(out) << message(out);
  EXPECT_EQ((*out)[0].spec.dtype.value, DType::kFloat32);
}

TEST(Eltwise, MemoryOfTheShardedOperandStretches) {
  const auto out = infer("ttnn.add", {{"arg0", tensor({1, 1, 128, 64})},
                                      {"arg1", tensor({1, 1, 128, 1}, DType::kBfloat16, height_sharded({32, 32}, 4))}});
  ASSERT_TRUE(out) << message(out);
  ASSERT_TRUE((*out)[0].spec.memory->shard);
  EXPECT_EQ((*out)[0].spec.memory->shard->shape, (Shape{32, 64}));
}

TEST(Eltwise, ShardedConfigWithoutSpecSpreadsOverCores) {
  MemoryConfig asked;
  asked.layout.value = MemoryLayout::kHeightSharded;
  asked.buffer.value = BufferType::kL1;
  const auto out = infer("ttnn.silu", {{"arg0", tensor({1, 3, 128, 7})}, {"memory_config", Value::memory(asked)}});
  ASSERT_TRUE(out) << message(out);
  const ShardSpec& shard = *(*out)[0].spec.memory->shard;
  EXPECT_EQ(shard.shape, (Shape{32, 32}));
  EXPECT_EQ(core_count(shard.grid), 12);
}

TEST(Eltwise, InPlaceKeepsItsTensor) {
  const Value a = tensor({1, 1, 128, 64}, DType::kBfloat8B, height_sharded({32, 64}, 4));
  const auto out = infer("ttnn.multiply_", {{"arg0", a}, {"arg1", Value(0.125)}});
  ASSERT_TRUE(out) << message(out);
  EXPECT_EQ(to_text((*out)[0].spec), to_text(*a.as_tensor()));
}

TEST(Eltwise, FreedAndHostTensors) {
  TensorSpec host = *tensor({32, 32}).as_tensor();
  host.storage.value = StorageType::kHost;
  EXPECT_EQ(message(infer("ttnn.add", {{"arg0", Value::tensor(host)}, {"arg1", Value(1.0)}})),
            "Input tensor A must be on device, got storage type: StorageType::HOST");
  TensorSpec freed = *tensor({32, 32}).as_tensor();
  freed.more.emplace_back("deallocated", Value(true));
  EXPECT_FALSE(infer("ttnn.relu", {{"arg0", Value::tensor(freed)}}));
}

TEST(Eltwise, UnknownActivationIsRefusedByName) {
  const auto out = infer("ttnn.add", {{"arg0", tensor({32, 32})},
                                      {"arg1", tensor({32, 32})},
                                      {"activations", Value(List{Value(Enum{"UnaryOpType", "NO_SUCH"})})}});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind, Refusal::Kind::kUnsupported);
  EXPECT_EQ(out.error().argument, "activations");
}

HostTensor host_tensor(const Value& value, std::vector<float> floats) {
  HostTensor out;
  out.spec = *value.as_tensor();
  out.floats = std::move(floats);
  return out;
}

TEST(Eltwise, ReferenceOfAGatedProduct) {
  const Value a = tensor({2, 2});
  const Value b = tensor({1, 2});
  const auto call = bound(
      "ttnn.multiply",
      {{"arg0", a}, {"arg1", b}, {"input_tensor_a_activations", Value(List{Value(Enum{"UnaryOpType", "SILU"})})}});
  ASSERT_TRUE(call);
  const OpSpec& op = *find_op("ttnn.mul");
  const auto outputs = op.infer(*call, board());
  ASSERT_TRUE(outputs) << message(outputs);
  const std::vector inputs{host_tensor(a, {1, 2, 3, -4}), host_tensor(b, {10, 100})};
  const Rows rows{.total = 2, .length = 2, .picked = {1}};
  const auto exact = op.reference({*call, inputs, *outputs, 0, rows});
  ASSERT_TRUE(exact);
  ASSERT_EQ(exact->value.size(), 2U);
  EXPECT_DOUBLE_EQ(exact->value[0], 10 * 3 / (1 + std::exp(-3.0)));
  EXPECT_DOUBLE_EQ(exact->value[1], 100 * -4 / (1 + std::exp(4.0)));
}

TEST(Eltwise, ExactFunctionsAtTheirEnds) {
  const auto at = [](std::string_view name, double x) { return find_exact_unary(name)(x, {}); };
  for (const char* gated : {"silu", "gelu", "mish", "hardswish"}) {
    EXPECT_TRUE(std::isnan(at(gated, -INFINITY))) << gated << ": 0 x infinity";
    EXPECT_EQ(at(gated, -3e38), 0) << gated;
    EXPECT_EQ(at(gated, INFINITY), INFINITY) << gated;
  }
  EXPECT_EQ(at("sigmoid", 1000), 1);
  EXPECT_NEAR(at("erfinv", 0.5), 0.4769362762044699, 1e-15);
  EXPECT_EQ(find_exact_unary("no_such"), nullptr);
}

}  // namespace
}  // namespace opwright

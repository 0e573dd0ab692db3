#include "device/sim/eltwise.h"

#include <gtest/gtest.h>

namespace opwright::sim {
namespace {

TensorSpec spec(Shape shape, DType dtype = DType::kBfloat16) {
  TensorSpec out;
  out.shape = std::move(shape);
  out.has_shape = true;
  out.dtype.value = dtype;
  out.layout.value = Layout::kTile;
  return out;
}

HostTensor floats(Shape shape, std::vector<float> values) {
  HostTensor out;
  out.spec = spec(std::move(shape));
  out.floats = std::move(values);
  return out;
}

HostTensor ints(Shape shape, std::vector<std::int64_t> values) {
  HostTensor out;
  out.spec = spec(std::move(shape), DType::kInt32);
  out.ints = std::move(values);
  return out;
}

// Runs `op` on these operands; the output is as `out` says.
HostTensor run(Binary op, std::vector<HostTensor> inputs, TensorSpec out, std::vector<Argument> more = {}) {
  std::vector<Argument> args{{"input_tensor_a", Value::tensor(inputs[0].spec)}};
  if (inputs.size() > 1) args.push_back({"input_tensor_b", Value::tensor(inputs[1].spec)});
  args.insert(args.end(), more.begin(), more.end());
  const BoundCall call("ttnn.test", Convention::kPython, args);
  const std::vector outputs{output_spec(std::move(out))};
  const Board board = *find_board("n150");
  auto result = run_binary({call, inputs, outputs, board}, {.op = op});
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::move(result->front()) : HostTensor{};
}

TEST(Eltwise, RowsAndColumnsStretch) {
  const HostTensor out = run(Binary::kAdd, {floats({2, 1}, {1, 2}), floats({1, 2}, {10, 20})}, spec({2, 2}));
  EXPECT_EQ(out.floats, (std::vector<float>{11, 21, 12, 22}));
}

TEST(Eltwise, NumbersAreRoundedToTheTensorsDtype) {
  const HostTensor out = run(Binary::kMul, {floats({1, 1}, {1})}, spec({1, 1}), {{"input_tensor_b", Value(1.7)}});
  EXPECT_EQ(out.floats, (std::vector<float>{1.703125F}));
}

TEST(Eltwise, FunctionsComeBeforeAndAfter) {
  const Value relu(List{Value(Enum{"UnaryOpType", "RELU"})});
  const auto with = [&](std::string param) {
    return run(Binary::kSub, {floats({1, 2}, {-1, 3}), floats({1, 2}, {2, 5})}, spec({1, 2}), {{param, relu}}).floats;
  };
  EXPECT_EQ(with("input_tensor_a_activations"), (std::vector<float>{-2, -2}));
  EXPECT_EQ(with("activations"), (std::vector<float>{0, 0}));
}

TEST(Eltwise, IntegersWrap) {
  const HostTensor out =
      run(Binary::kAdd, {ints({1, 2}, {2147483647, 5}), ints({1, 2}, {1, -7})}, spec({1, 2}, DType::kInt32));
  EXPECT_EQ(out.ints, (std::vector<std::int64_t>{-2147483648LL, -2}));
}

TEST(Eltwise, IntegersBesideFloatsBecomeFloats) {
  const HostTensor out = run(Binary::kMul, {ints({1, 2}, {3, -4}), floats({1, 2}, {0.5, 0.5})}, spec({1, 2}));
  EXPECT_EQ(out.floats, (std::vector<float>{1.5, -2}));
}

TEST(Eltwise, NoElements) {
  const HostTensor out = run(Binary::kAdd, {floats({0, 4}, {}), floats({1, 4}, {1, 2, 3, 4})}, spec({0, 4}));
  EXPECT_EQ(out.spec.shape, (Shape{0, 4}));
  EXPECT_TRUE(out.floats.empty());
}

TEST(Eltwise, ToInteger) {
  EXPECT_EQ(to_integer(-2.7, DType::kInt32), -2);
  EXPECT_EQ(to_integer(-2.7, DType::kUint16), 0);
  EXPECT_EQ(to_integer(1e12, DType::kUint8), 255);
}

}  // namespace
}  // namespace opwright::sim

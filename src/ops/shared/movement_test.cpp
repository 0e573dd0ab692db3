#include "ops/shared/movement.h"

#include <gtest/gtest.h>

#include "model/refusal.h"
#include "ops/all_ops.h"
#include "ops/shared/movement_reshape.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

TensorSpec tensor(Shape shape, DType dtype, Layout layout, MemoryConfig memory = interleaved(BufferType::kDram)) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = dtype;
  spec.layout.value = layout;
  spec.storage.value = StorageType::kDevice;
  spec.memory = std::move(memory);
  return spec;
}

MemoryConfig sharded_l1(MemoryLayout layout, Shape shape, CoreRange range) {
  MemoryConfig memory = interleaved(BufferType::kL1);
  memory.layout.value = layout;
  ShardSpec shard;
  shard.grid = {range};
  shard.shape = std::move(shape);
  shard.orientation.value = Orientation::kRowMajor;
  memory.shard = std::move(shard);
  return memory;
}

Board n150() { return *find_board("n150"); }

TEST(Reshape, RowsThatStayRowsAreAView) {
  const TensorSpec input = tensor({1, 1, 128, 64}, DType::kBfloat16, Layout::kTile);
  const auto output = reshape_output(input, {.shape = {1, 2, 64, 64}}, n150());
  ASSERT_TRUE(output);
  EXPECT_EQ(output->alias, "input_tensor");
  const auto copy = reshape_output(input, {.shape = {1, 1, 64, 128}}, n150());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->alias, "");
}

TEST(Reshape, ShardsFitTheNewShape) {
  const TensorSpec input = tensor({1, 1, 256, 64}, DType::kBfloat16, Layout::kRowMajor,
                                  sharded_l1(MemoryLayout::kHeightSharded, {32, 64}, {{0, 0}, {7, 0}}));
  const auto output = reshape_output(input, {.shape = {1, 1, 128, 128}}, n150());
  ASSERT_TRUE(output);
  EXPECT_EQ(output->spec.memory->shard->shape, (Shape{16, 128}));
}

TEST(Reshape, SixteenBitIntegersAreNotCopied) {
  const TensorSpec input = tensor({1, 1, 128, 64}, DType::kUint16, Layout::kTile);
  const auto output = reshape_output(input, {.shape = {1, 1, 64, 128}}, n150());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "Can only work with bfloat16/float32 or int32/uint32 tensors");
}

TEST(Shards, AFreshSpecTakesAsManyCoresAsItFills) {
  const ShardSpec shard = fresh_shard(n150(), {1, 1, 320, 96}, MemoryLayout::kHeightSharded, Orientation::kRowMajor);
  EXPECT_EQ(shard.shape, (Shape{32, 96}));
  EXPECT_EQ(shard.grid, (std::vector<CoreRange>{{{0, 0}, {7, 0}}, {{0, 1}, {1, 1}}}));
}

TEST(Slice, ACutWithinATileGoesByRows) {
  OpConfig config;
  config.op = "ttnn.slice";
  const auto list = [](std::vector<std::int64_t> values) {
    List out;
    for (const std::int64_t value : values) out.emplace_back(value);
    return Value(std::move(out));
  };
  config.args = {{"arg0", Value::tensor(tensor({1, 1, 64, 96}, DType::kBfloat8B, Layout::kTile))},
                 {"arg1", list({0, 0, 5, 3})},
                 {"arg2", list({1, 1, 40, -26})}};
  const OpSpec& slice = *find_op("ttnn.slice");
  const auto call = bind(slice, config);
  ASSERT_TRUE(call);
  const auto outputs = slice.infer(*call, n150());
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->at(0).spec.shape, (Shape{1, 1, 35, 67}));
  EXPECT_EQ(outputs->at(0).spec.dtype.value, DType::kBfloat16);
}

Checked<std::vector<OutputSpec>> infer(std::string op, std::vector<Argument> args) {
  const OpSpec& spec = *find_op(op);
  const auto call = bind(spec, {.op = op, .convention = Convention::kPython, .args = std::move(args), .key = {}});
  if (!call) return refuse(call.error());
  return spec.infer(*call, n150());
}

Value numbers(std::initializer_list<std::int64_t> values) {
  List list;
  for (const std::int64_t value : values) list.emplace_back(value);
  return Value(std::move(list));
}

TEST(Pad, BothOverloadsByPositionAndByName) {
  const Value x = Value::tensor(tensor({1, 1, 32, 64}, DType::kBfloat16, Layout::kTile));
  const Value shape = numbers({1, 1, 64, 96}), start = numbers({0, 0, 0, 0}), zero(0.0), yes(true);
  const Value sides(List{numbers({0, 0}), numbers({0, 0}), numbers({0, 32}), numbers({0, 32})});
  const std::vector<std::vector<Argument>> calls{
      {{"input_tensor", x}, {"arg1", shape}, {"arg2", start}, {"arg3", zero}},
      {{"input_tensor", x}, {"arg1", shape}, {"arg2", start}, {"arg3", zero}, {"use_multicore", yes}},
      {{"input_tensor", x}, {"arg1", shape}, {"arg2", start}, {"value", zero}, {"use_multicore", yes}},
      {{"input_tensor", x}, {"arg1", shape}, {"input_tensor_start", start}, {"value", zero}},
      {{"input_tensor", x}, {"output_padded_shape", shape}, {"input_tensor_start", start}, {"value", zero}},
      {{"input_tensor", x}, {"arg1", sides}, {"arg2", zero}, {"use_multicore", yes}},
      {{"input_tensor", x}, {"padding", sides}, {"value", zero}},
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto out = infer("ttnn.pad", calls[i]);
    ASSERT_TRUE(out) << i << ": " << out.error().message;
    EXPECT_EQ(out->at(0).spec.shape, (Shape{1, 1, 64, 96})) << i;
  }
  const auto twice = infer("ttnn.pad", {{"input_tensor", x}, {"arg1", sides}, {"arg2", zero}, {"value", zero}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "ttnn.pad() got multiple values for argument 'value'");
  EXPECT_FALSE(infer("ttnn.pad", {{"input_tensor", x}, {"arg1", sides}, {"arg2", zero}, {"arg3", yes}}));
}

TEST(InterleavedToSharded, TheOverloadByGridIsNoRefusal) {
  const Value x = Value::tensor(tensor({1, 1, 256, 64}, DType::kBfloat16, Layout::kTile));
  const auto out = infer("ttnn.interleaved_to_sharded", {{"input_tensor", x}, {"arg1", numbers({8, 1})}});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().argument, "grid");
  EXPECT_EQ(out.error().kind, Refusal::Kind::kUnsupported);
}

}  // namespace
}  // namespace opwright

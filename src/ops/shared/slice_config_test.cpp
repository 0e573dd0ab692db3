#include "ops/shared/slice_config.h"

#include <gtest/gtest.h>

#include "ops/all_ops.h"

namespace opwright {
namespace {

BoundCall with(Value config) {
  BoundCall call;
  call.op = "ttnn.conv2d";
  call.set("slice_config", std::move(config));
  return call;
}

Value slices(std::string_view type, std::string_view name) {
  return Value::structure("Op2DSliceConfig", {{"num_slices", Value(std::int64_t{0})},
                                              {"slice_type", Value(Enum{std::string(type), std::string(name)})}});
}

TEST(SliceConfig, L1FullIsNoSlicing) {
  EXPECT_EQ(slicing_of(BoundCall{}, "slice_config"), Slicing::kLibrarys);
  EXPECT_EQ(slicing_of(with(Value()), "slice_config"), Slicing::kLibrarys);
  EXPECT_EQ(slicing_of(with(slices("SliceType", "L1_FULL")), "slice_config"), Slicing::kNone);     // as C++ prints it
  EXPECT_EQ(slicing_of(with(slices("SliceTypeEnum", "L1Full")), "slice_config"), Slicing::kNone);  // as Python does
  EXPECT_EQ(slicing_of(with(slices("SliceType", "DRAM_HEIGHT")), "slice_config"), Slicing::kCallers);
  EXPECT_EQ(slicing_of(with(slices("SliceTypeEnum", "DRAMSliceWidth")), "slice_config"), Slicing::kCallers);
}

TEST(SliceConfig, WhatDoesNotSayIsNotGuessed) {
  EXPECT_FALSE(slicing_of(with(Value(std::int64_t{3})), "slice_config"));
  EXPECT_FALSE(slicing_of(with(Value::structure("Op2DSliceConfig", {})), "slice_config"));
}

TensorSpec tensor(Shape shape, StorageType storage) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.has_shape = true;
  spec.dtype.value = DType::kBfloat16;
  spec.layout.value = Layout::kRowMajor;
  spec.storage.value = storage;
  return spec;
}

// An input in DRAM is sliced by the library, which gives back DRAM, unless it is told not to.
TEST(SliceConfig, AWholeConvolutionStaysInL1) {
  const auto number = [](std::int64_t n) { return Value(n); };
  const auto pair = [&](std::int64_t n) { return Value(List{number(n), number(n)}); };
  OpConfig config;
  config.op = "ttnn.conv2d";
  config.args = {{"input_tensor", Value::tensor(tensor({1, 1, 4096, 16}, StorageType::kDevice))},
                 {"weight_tensor", Value::tensor(tensor({32, 16, 3, 3}, StorageType::kHost))},
                 {"in_channels", number(16)},
                 {"out_channels", number(32)},
                 {"batch_size", number(1)},
                 {"input_height", number(64)},
                 {"input_width", number(64)},
                 {"kernel_size", pair(3)},
                 {"padding", pair(1)}};
  const auto output = [&] {
    const OpSpec& op = *find_op(config.op);
    const auto call = bind(op, config);
    EXPECT_TRUE(call) << call.error().message;
    const auto outputs = op.infer(*call, *find_board("n150"));
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs->at(0).spec.memory.value();
  };
  EXPECT_EQ(output().buffer.value, BufferType::kDram);
  config.args.push_back({"slice_config", slices("SliceType", "L1_FULL")});
  EXPECT_EQ(output().layout.value, MemoryLayout::kHeightSharded);
  EXPECT_EQ(output().shard.value().shape, (Shape{64, 32}));  // as ttnn 0.81.1 answers
}

}  // namespace
}  // namespace opwright

#include "device/sim/memory/allocation.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"

namespace opwright::sim {
namespace {

const Board& n150() {
  static const Board board = *find_board("n150");
  return board;
}

// 1 MiB on each of 64 cores: one fits in L1, two do not.
TensorSpec large() { return tensor({1, 1, 8192, 4096}, DType::kBfloat16, Layout::kTile, interleaved(BufferType::kL1)); }
BoundCall call_with(std::string op, TensorSpec input) {
  return BoundCall(std::move(op), Convention::kPython, {{"input_tensor", Value::tensor(std::move(input))}});
}

TEST(Allocation, InputsAndNewOutputsAreTogether) {
  const auto outputs = std::vector{output_spec(large())};
  const auto report = allocate_call(call_with("ttnn.relu", tensor({32, 32})), outputs, n150());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->l1_per_core, 1 << 20);
  EXPECT_EQ(report->dram, 2048);
  const auto refused = allocate_call(call_with("ttnn.relu", large()), outputs, n150());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::kMemory);
}

TEST(Allocation, WhatIsWrittenInPlaceIsCountedOnce) {
  std::vector<OutputSpec> outputs{output_spec(large())};
  BoundCall into = call_with("ttnn.relu", tensor({32, 32}));
  into.set("output_tensor", Value::tensor(large()));
  EXPECT_TRUE(allocate_call(into, outputs, n150()));
  outputs[0].alias = "input_tensor";
  for (const char* op : {"ttnn.view", "ttnn.relu_"})
    EXPECT_TRUE(allocate_call(call_with(op, large()), outputs, n150())) << op;
}

TEST(Allocation, HostAndFreedTensorsTakeNoRoom) {
  TensorSpec host = large();
  host.storage.value = StorageType::kHost;
  TensorSpec freed = large();
  freed.more.emplace_back("deallocated", Value(true));
  for (const TensorSpec& input : {host, freed}) {
    const auto report = allocate_call(call_with("ttnn.relu", input), std::vector{output_spec(large())}, n150());
    ASSERT_TRUE(report);
    EXPECT_EQ(report->l1_per_core, 1 << 20);
  }
}

TEST(Allocation, ATensorThatCannotExistIsRefusedByItsRule) {
  const auto report =
      allocate_call(call_with("ttnn.relu", tensor({32, 32}, DType::kBfloat8B, Layout::kRowMajor)), {}, n150());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Refusal::Kind::kRule);
}

}  // namespace
}  // namespace opwright::sim

#include "exec/modelled_time.h"

#include <gtest/gtest.h>

#include <string>

#include "exec/case_line.h"
#include "exec/example_cases.h"

namespace opwright {
namespace {

std::optional<double> seconds(const std::string& line, std::string_view board = "n150") {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  const auto plan = plan_call(*config, *find_board(board));
  EXPECT_TRUE(plan.has_value()) << line << ": " << (plan ? "" : plan.error().message);
  return plan ? modelled_kernel_seconds(*plan, *find_board(board)) : std::nullopt;
}

std::string tensor(const std::string& what, const std::string& memory = "DRAM INTERLEAVED") {
  return "tensor(" + what + " TILE DEVICE memory(" + memory + "))";
}
std::string matmul(const std::string& size, const std::string& fidelity) {
  return "ttnn.matmul(" + tensor("[" + size + "," + size + "] BFLOAT16") + ", " +
         tensor("[" + size + "," + size + "] BFLOAT16") +
         ", compute_kernel_config=WormholeComputeKernelConfig(fp32_dest_acc_en=false,math_approx_mode=false,"
         "math_fidelity=MathFidelity." +
         fidelity + ",packer_l1_acc=true))";
}

// 2 x 4096^3 operations at 262 TFLOP/s, the published LoFi rate of 64 cores, are half a millisecond.
TEST(ModelledTime, ALargeMatmulRunsAtTheRateOfItsFidelity) {
  const double lofi = *seconds(matmul("4096", "LoFi"));
  EXPECT_NEAR(lofi, 2 * 4096.0 * 4096 * 4096 / 262e12, 0.02 * lofi);
  EXPECT_NEAR(*seconds(matmul("4096", "HiFi4")) / lofi, 4, 0.05);
}

TEST(ModelledTime, DataMovementTakesTheBandwidthOfItsMemory) {
  const double dram = *seconds("ttnn.clone(" + tensor("[1,1,8192,1024] BFLOAT16") + ")");
  EXPECT_NEAR(dram, 2 * 8192.0 * 1024 * 2 / 258e9, 0.05 * dram);
  const std::string l1 = "L1 INTERLEAVED";
  EXPECT_LT(*seconds("ttnn.clone(" + tensor("[1,1,8192,1024] BFLOAT16", l1) + ", memory_config=memory(" + l1 + "))"),
            dram / 4);
  EXPECT_LT(*seconds("ttnn.clone(" + tensor("[1,1,8192,1024] BFLOAT8_B") + ")"), 0.6 * dram);
}

TEST(ModelledTime, FewerCoresAreSlowerAndAnotherChipIsFaster) {
  const auto sharded = [](const std::string& rows, const std::string& last) {
    return "ttnn.relu(" +
           tensor("[1,1,2048,512] BFLOAT16",
                  "L1 HEIGHT_SHARDED shard [" + rows + ",512] on (0,0)-(" + last + ") ROW_MAJOR") +
           ")";
  };
  EXPECT_GT(*seconds(sharded("512", "3,0")), 3 * *seconds(sharded("64", "7,3")));
  EXPECT_LT(*seconds(matmul("4096", "HiFi2"), "p150b"), *seconds(matmul("4096", "HiFi2")));
}

// A slice reads what it gives, a cache update writes what it got: neither pays for the rest.
TEST(ModelledTime, PartsAreNotTheWhole) {
  EXPECT_LT(*seconds("ttnn.slice(" + tensor("[1,1,8192,1024] BFLOAT16") + ", [0,0,0,0], [1,1,32,1024])"), 3e-6);
  EXPECT_LT(*seconds("ttnn.update_cache(" + tensor("[32,8,8192,128] BFLOAT16") + ", " +
                     tensor("[1,8,32,128] BFLOAT16") + ", 5)"),
            3e-6);
}

TEST(ModelledTime, WhatOnlyDataDecidesHasNone) {
  int with = 0, without = 0;
  for (const std::string_view line : example_cases()) {
    const auto time = seconds(std::string(line));
    time ? ++with : ++without;
    if (time) {
      EXPECT_GT(*time, 0.9e-6) << line;
      EXPECT_LT(*time, 1e-3) << line;
    } else {
      EXPECT_NE(line.find("attention"), std::string_view::npos) << line;
    }
  }
  EXPECT_GT(with, 100);
  EXPECT_EQ(without, 3);
}

}  // namespace
}  // namespace opwright

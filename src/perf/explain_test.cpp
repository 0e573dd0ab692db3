#include "perf/explain.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "perf/fixture.h"
#include "perf/layout_tax.h"
#include "perf/like.h"

namespace opwright::perf {
namespace {

TEST(Explain, WorkBytesAndPeaksOfAProductByHand) {
  const Recording recording = read_fixture("generation_v2_1.csv");
  const Reduced out = reduced(recording);
  const auto board = board_of(recording, out, "n150");
  ASSERT_TRUE(board);
  const std::vector<Explanation> all = explain(recording, out, *board);
  const Explanation& product =
      all[1];  // 32 x 1024 x 4096 at HiFi2 on 64 cores in 20,010 ns, weights of 8.5 bits in DRAM
  EXPECT_EQ(product.flops, 2.0 * 32 * 1024 * 4096);
  EXPECT_EQ(product.dram_bytes, 1024.0 * 4096 * 1088 / 1024);
  EXPECT_EQ(product.l1_bytes, 2.0 * (32 * 1024 + 32 * 4096));  // its first input and its output
  EXPECT_NEAR(product.fpu_percent, 100 * 2.0 * 32 * 1024 * 4096 / (64 * 4096.0 / 2) / 20010, 1e-9);
  EXPECT_NEAR(product.dram_percent, 100 * 4456448 / 20010.0 / 288, 1e-9);
  EXPECT_EQ(product.bound, Bound::kDram);
  EXPECT_EQ(product.advice, "100 % of its bytes are one input of BFLOAT8_B, in DRAM");
  EXPECT_EQ(all[0].bound, Bound::kFewCores);  // its gap is longer, but that is the wait for the host
  EXPECT_FALSE(has(all[0].flops));
  EXPECT_EQ(all[3].bound, Bound::kUnproven);
}

TEST(Explain, WithoutABoardNothingIsProven) {
  const Recording recording = read_fixture("generation_2024.csv");
  const Reduced out = reduced(recording);
  const auto board = board_of(recording, out, "");
  ASSERT_TRUE(board);
  EXPECT_TRUE(board->boards.empty());
  for (const Explanation& one : explain(recording, out, *board)) EXPECT_FALSE(has(one.dram_percent));
  EXPECT_FALSE(board_of(recording, out, "n151"));
}

TEST(Explain, ATimeThatIsNoKernelsProvesNothing) {
  const Recording recording = read_fixture("generation_quasar.csv");
  const Reduced out = reduced(recording);
  for (const Explanation& one : explain(recording, out, *board_of(recording, out, "n150")))
    EXPECT_FALSE(has(one.fpu_percent));
}

std::string row(const char* op, int call, const char* from, const char* to, int kernel) {
  const auto tensor = [](const char* memory) {
    return std::string("1[1],1[1],32[32],64[64],TILE,BFLOAT16,DEV_0_") + memory;
  };
  return std::string(op) + ",tt_dnn_device," + std::to_string(call * 1024) + ",0,100," + std::to_string(kernel) + "," +
         tensor(from) + "," + tensor(to) + "\n";
}

TEST(LayoutTax, ARoundTripIsWhereTheSecondGivesBackWhatTheFirstTook) {
  std::string text = "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns]";
  for (const char* side : {"INPUT_0", "OUTPUT_0"}) {
    for (const char* extent : {"W", "Z", "Y", "X"}) text += std::string(",") + side + "_" + extent + "_PAD[LOGICAL]";
    text += std::string(",") + side + "_LAYOUT," + side + "_DATATYPE," + side + "_MEMORY";
  }
  text += "\n";
  text += row("MatmulDeviceOperation", 1, "L1_BLOCK_SHARDED", "L1_BLOCK_SHARDED", 5000);
  text += row("ShardedToInterleavedDeviceOperation", 2, "L1_BLOCK_SHARDED", "DRAM_INTERLEAVED", 300);
  text += row("SliceDeviceOperation", 3, "DRAM_INTERLEAVED", "DRAM_INTERLEAVED", 900);
  text += row("InterleavedToShardedDeviceOperation", 4, "DRAM_INTERLEAVED", "L1_BLOCK_SHARDED", 400);
  text += row("ReshardDeviceOperation", 5, "L1_BLOCK_SHARDED", "L1_WIDTH_SHARDED", 50);
  const TestFolder folder;
  const auto recording = read_one(folder.write("t.csv", text));
  ASSERT_TRUE(recording) << recording.error().message;
  const LayoutTax tax = layout_tax(*recording, reduced(*recording));
  EXPECT_EQ(tax.operations, 3);
  EXPECT_EQ(tax.kernel_ns, 750);
  ASSERT_EQ(tax.trips.size(), 1u);
  EXPECT_EQ(tax.trips[0].away, 1u);
  EXPECT_EQ(tax.trips[0].back, 3u);
  EXPECT_EQ(tax.trips[0].for_whom, "SliceDeviceOperation");
  EXPECT_EQ(tax.trips_kernel_ns(), 700);
}

TEST(Like, ThreeRulesByHand) {
  const Recording recording = read_fixture("window_two_devices.csv");
  const Window window = window_of(recording);
  const LikeResult gpt = add_up_like(Like::kGptOss, recording, window);
  EXPECT_EQ(gpt.total_kernel_ns, 3 * 35390);  // all iterations together
  EXPECT_EQ(gpt.total_op_to_op_ns, 3 * 51800);
  const LikeResult deepseek = add_up_like(Like::kDeepSeek, recording, window);
  EXPECT_EQ(deepseek.total_kernel_ns, 35000 + 4 * 60);  // means over all rows
  const LikeResult detailed = add_up_like(Like::kDetailed, recording, window, 2);
  ASSERT_EQ(detailed.ops.size(), 4u);
  EXPECT_EQ(detailed.ops[3].op, "MatmulDeviceOperation");
  EXPECT_EQ(detailed.ops[3].count, 4);
  EXPECT_EQ(detailed.ops[3].min_kernel_ns, 20010);
  EXPECT_EQ(detailed.ops[3].max_kernel_ns, 20120);
  const Recording stops = read_fixture("bad_device_stops.csv");
  EXPECT_FALSE(add_up_like(Like::kDetailed, stops, window_of(stops)).ops.front().refused.empty());
}

}  // namespace
}  // namespace opwright::perf

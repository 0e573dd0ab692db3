#include "exec/clock/kernel_call.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "dialect/ttnn/launched_class.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

std::optional<KernelCall> call_of(const std::string& line, std::string_view board = "n150") {
  const auto config = parse_case(line);
  EXPECT_TRUE(config.has_value()) << line;
  const auto plan = plan_call(*config, *find_board(board));
  EXPECT_TRUE(plan.has_value()) << line << ": " << (plan ? "" : plan.error().message);
  return plan ? kernel_call(*plan, *find_board(board)) : std::nullopt;
}

double nanoseconds(const std::string& line, std::string_view board = "n150") {
  const auto call = call_of(line, board);
  const auto work = call ? work_of(*call) : std::nullopt;
  EXPECT_TRUE(work.has_value()) << line;
  return work ? kernel_ns(*work) : 0;
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
std::string relu(const std::string& shape, const std::string& memory = "DRAM INTERLEAVED") {
  return "ttnn.relu(" + tensor(shape + " BFLOAT16", memory) + ")";
}

TEST(Clock, MoreWorkTakesLonger) {
  double last = 0;
  for (const char* shape : {"[1,1,32,32]", "[1,1,512,512]", "[1,1,2048,2048]", "[1,1,8192,4096]"}) {
    const double now = nanoseconds(relu(shape));
    EXPECT_GE(now, last) << shape;
    last = now;
  }
  EXPECT_GT(last, 10 * nanoseconds(relu("[1,1,32,32]")));
  last = 0;
  for (const char* size : {"256", "1024", "4096", "8192"}) {
    const double now = nanoseconds(matmul(size, "HiFi2"));
    EXPECT_GT(now, 1.5 * last) << size;
    last = now;
  }
}

// 2 x 4096^3 operations at 262 TFLOP/s, the published LoFi rate of 64 cores, are half a millisecond: no kernel is
// faster.
TEST(Clock, NothingIsFasterThanTheChip) {
  const double least = 2 * 4096.0 * 4096 * 4096 / 262e3;
  EXPECT_GE(nanoseconds(matmul("4096", "LoFi")), least);
  EXPECT_GE(nanoseconds(matmul("4096", "HiFi4")), 4 * least);
  EXPECT_GE(nanoseconds("ttnn.clone(" + tensor("[1,1,8192,1024] BFLOAT16") + ")"), 2 * 8192.0 * 1024 * 2 / 258);
}

TEST(Clock, FewerCoresAreSlowerAndAnotherChipIsFaster) {
  const auto sharded = [](const std::string& rows, const std::string& last) {
    return relu("[1,1,2048,512]", "L1 HEIGHT_SHARDED shard [" + rows + ",512] on (0,0)-(" + last + ") ROW_MAJOR");
  };
  EXPECT_EQ(call_of(sharded("512", "3,0"))->shard_cores, 4);
  EXPECT_GT(nanoseconds(sharded("512", "3,0")), 3 * nanoseconds(sharded("64", "7,3")));
  EXPECT_LT(nanoseconds(matmul("4096", "HiFi2"), "p150b"), nanoseconds(matmul("4096", "HiFi2")));
}

TEST(Clock, WorkIsDealtOutInEqualParts) {
  const auto cores = [](std::int64_t tiles) {
    KernelCall call;
    call.device_class = "TilizeDeviceOperation";
    call.arch = Arch::kBlackhole;
    call.available = 110;
    call.inputs = call.outputs = {{.padded = {1, 1, 32, 32 * tiles}, .dtype = DType::kBfloat16}};
    return work_of(call)->cores;
  };
  EXPECT_EQ(cores(1), 1);
  EXPECT_EQ(cores(110), 110);
  EXPECT_EQ(cores(168), 84);  // as a real file has it
  EXPECT_EQ(cores(672), 96);
}

// A slice reads what it gives, a cache update what it writes: neither pays for the rest.
TEST(Clock, PartsAreNotTheWhole) {
  EXPECT_LT(nanoseconds("ttnn.slice(" + tensor("[1,1,8192,1024] BFLOAT16") + ", [0,0,0,0], [1,1,32,1024])"), 1e4);
  EXPECT_LT(nanoseconds("ttnn.update_cache(" + tensor("[32,8,8192,128] BFLOAT16") + ", " +
                        tensor("[1,8,32,128] BFLOAT16") + ", 5)"),
            1e4);
}

TEST(Clock, NamesOfShapesLaunchNothing) {
  EXPECT_FALSE(call_of("ttnn.unsqueeze(" + tensor("[1,1,64,96] BFLOAT16") + ", 0)").has_value());
  EXPECT_FALSE(call_of("ttnn.reshape(" + tensor("[1,1,64,96] BFLOAT16") + ", [1,2,32,96])").has_value());
  EXPECT_EQ(call_of("ttnn.reshape(" + tensor("[1,1,64,96] BFLOAT16") + ", [1,1,96,64])")->device_class,
            "ReshapeViewDeviceOperation");
}

TEST(Clock, WhereATensorGoesDecidesWhatMovesIt) {
  const std::string shard = "memory(L1 HEIGHT_SHARDED shard [32,64] on (0,0)-(3,0) ROW_MAJOR)";
  const std::string from = "tensor([1,1,128,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";
  EXPECT_EQ(call_of("ttnn.to_memory_config(" + from + ", " + shard + ")")->device_class,
            "InterleavedToShardedDeviceOperation");
  EXPECT_EQ(call_of("ttnn.to_memory_config(" + from + ", memory(L1 INTERLEAVED))")->device_class,
            "CopyDeviceOperation");
}

// Every operation that is described has a row, every class of a row a kernel, and every time is one.
TEST(Clock, KnowsEveryOperation) {
  std::set<std::string_view> classes;
  for (const Kernel& kernel : clock_table().kernels)
    for (const auto* list : {&kernel.measured, &kernel.borrowed}) classes.insert(list->begin(), list->end());
  for (const OpSpec* op : all_ops()) {
    const LaunchedClass* known = find_launched(op->name);
    ASSERT_NE(known, nullptr) << op->name;
    if (known->by == LaunchChoice::kNone) continue;
    for (const std::string_view name : known->classes) EXPECT_TRUE(classes.contains(name)) << op->name << ": " << name;
  }
  int with = 0;
  for (const std::string_view line : example_cases()) {
    const auto call = call_of(std::string(line));
    const OpSpec* op = find_op(parse_case(line)->op);
    if (!call) {
      // Names of shapes, tensors that are made on the host, those that stay where they are.
      const LaunchChoice by = find_launched(op->name)->by;
      const bool stays = op->name == "ttnn.to_memory_config" || op->name == "ttnn.to_layout";
      EXPECT_TRUE(by == LaunchChoice::kNone || by == LaunchChoice::kView || stays) << line;
      continue;
    }
    // The time of an exchange is not that of one chip.
    EXPECT_EQ(call->device_class.empty(), op->ccl) << line;
    if (op->ccl) continue;
    const double ns = nanoseconds(std::string(line));
    EXPECT_GE(ns, 600) << line;
    EXPECT_LT(ns, 1e6) << line;
    ++with;
  }
  EXPECT_GT(with, 240);
}

}  // namespace
}  // namespace opwright

// One operator is a row of a family or a file with a line in the list: whoever adds a file and forgets the line, or the
// other way round, is told.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "device/sim/kernel.h"
#include "exec/case_line.h"
#include "exec/example_cases.h"
#include "exec/run_case.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

std::set<std::string> files_of(const std::string& folder, const std::set<std::string>& others) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(OPWRIGHT_SOURCE_DIR) + "/src/" + folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() == ".cpp" && !stem.ends_with("_test") && !others.contains(stem)) out.insert(stem);
  }
  return out;
}

TEST(Registry, EveryOperatorIsARowOrAFileWithALine) {
  std::set<std::string_view> names;
  for (const OpSpec* op : all_ops()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name << " is there twice";
    EXPECT_EQ(find_op(op->name), op);
    for (const std::string_view alias : op->aliases) EXPECT_EQ(find_op(alias), op) << alias;
  }
  std::set<std::string> listed;
  for (const OpSpec* op : ops_with_files()) listed.insert(std::string(short_name(op->name)));
  // `collectives` is what all exchanges between chips owe a replay: no operator of its own.
  EXPECT_EQ(listed, files_of("ops", {"all_ops", "bind", "op", "roles", "signatures", "unary_ops", "binary_ops",
                                     "reduce_ops", "like_ops", "collectives", "collective_ops", "heads_ops", "line_ops",
                                     "placing_ops", "read_rows", "scaling_ops", "softmax_ops", "ternary_ops"}));
}

TEST(Registry, EveryKernelHasItsFileAndItsLine) {
  std::set<std::string> listed;
  for (const sim::Kernel* kernel : sim::all_kernels()) {
    listed.insert(std::string(short_name(kernel->op)));
    EXPECT_NE(kernel->run, nullptr) << kernel->op;
    EXPECT_NE(find_op(kernel->op), nullptr) << kernel->op << " has a kernel and no operator";
  }
  EXPECT_EQ(listed, files_of("device/sim/kernels", {"all_kernels", "families", "collectives", "head_cuts", "lines",
                                                    "placing", "scaling", "ternary"}));
}

TEST(Registry, EveryOperatorIsComplete) {
  for (const OpSpec* op : all_ops()) {
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_FALSE(op->params.empty()) << op->name;
    std::set<std::string_view> names;
    std::set<int> positions;
    for (const Param& param : op->params) {
      EXPECT_TRUE(names.insert(param.name).second) << op->name << " has two parameters " << param.name;
      if (param.era1 >= 0) {
        EXPECT_TRUE(positions.insert(param.era1).second) << op->name << " has two parameters at " << param.era1;
      }
    }
    EXPECT_NE(op->reference, nullptr) << op->name;
    EXPECT_NE(op->budget, nullptr) << op->name;
    EXPECT_NE(sim::find_kernel(op->name), nullptr) << op->name;
  }
}

// Every operator that computes has an example, and all of them pass on the simulated device.
TEST(Registry, EveryOperatorHasAnExampleThatPasses) {
  std::set<std::string_view> shown;
  auto device = open_device("sim:n150");
  ASSERT_TRUE(device.has_value());
  for (const std::string_view line : example_cases()) {
    const auto config = parse_case(line);
    ASSERT_TRUE(config.has_value()) << line << ": " << config.error().message;
    const OpSpec* op = find_op(config->op);
    ASSERT_NE(op, nullptr) << line;
    shown.insert(op->name);
    const CaseResult result = run_case(*config, **device, {});
    EXPECT_EQ(result.outcome, Outcome::kPassed) << line << ": " << result.reason;
  }
  for (const OpSpec* op : all_ops())
    EXPECT_TRUE(shown.contains(op->name)) << op->name << ": a line in src/exec/data/example_cases.txt";
}

}  // namespace
}  // namespace opwright

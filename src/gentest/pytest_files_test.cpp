#include "gentest/pytest_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "gentest/case_files.h"
#include "gentest/row_names.h"
#include "model/case_line.h"
#include "normalize/normalize.h"

namespace opwright::gentest {
namespace {

using testing::HasSubstr;

Recorded recorded(std::string_view line, std::string machine = "Wormhole n150 x1") {
  Recorded one;
  const auto config = parse_case(line);
  EXPECT_TRUE(config) << config.error().message;
  if (config) one.config = *config;
  one.key = to_hex(sha256(line));
  one.calls = 3;
  one.models = "tiny";
  one.machine = std::move(machine);
  return one;
}

const std::string kTensor = "tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))";

const GeneratedFile& file_named(const Generated& made, std::string_view name) {
  for (const GeneratedFile& file : made.files)
    if (file.name == name) return file;
  static const GeneratedFile kNone;
  ADD_FAILURE() << name << " was not made";
  return kNone;
}

std::string text_of(const Generated& made, std::string_view name) {
  const GeneratedFile& file = file_named(made, name);
  return file_of(file.blocks, file.comment);
}

TEST(PytestFiles, AWholeFile) {
  Recorded one = recorded("ttnn.sqrt(input_tensor=" + kTensor + ", memory_config=memory(L1 INTERLEAVED))");
  one.key = "0123456789abcdef";
  const Generated made = pytest_files(std::vector{one});
  std::string text;
  for (const Block& block : file_named(made, "test_sqrt.py").blocks) text += block.text;
  EXPECT_EQ(
      text,
      R"("""ttnn.sqrt as it was recorded, one row a configuration. Numbers are compared with the library's golden function.

Written by `opwright gentest`, which renews it with --update. Run it with pytest; conftest.py says on what.
"""

import op_data
import pytest
import ttnn
from op_testing import GOLDEN, Case, Spec, cases, check
# ttnn.sqrt(input_tensor: tensor, memory_config: MemoryConfig)
SQRT__TENSOR_MEMORY_CONFIG = [
    # 3 calls of tiny
    Case(
        "1x1x32x64_bf16_dram-012345",
        lambda t: t.call(
            input_tensor=t.tensor(
                [1, 1, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, fill=op_data.positive
            ),
            memory_config=ttnn.L1_MEMORY_CONFIG,
        ),
        returns=lambda: [Spec([1, 1, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)],
        pcc=0.999,
        rtol=0.015625,
    ),
]


@pytest.mark.parametrize("case", cases(SQRT__TENSOR_MEMORY_CONFIG))
def test_sqrt__tensor_memory_config(device, case):
    check(ttnn.sqrt, case, device, reference=GOLDEN)
)");
}

TEST(PytestFiles, TheOrderOfConfigurationsDoesNotMatter) {
  std::vector<Recorded> some{recorded("ttnn.add(input_tensor_a=" + kTensor + ", input_tensor_b=1.5)"),
                             recorded("ttnn.add(input_tensor_a=" + kTensor + ", input_tensor_b=" + kTensor + ")"),
                             recorded("ttnn.relu(input_tensor=" + kTensor + ")")};
  const Generated a = pytest_files(some);
  std::ranges::reverse(some);
  const Generated b = pytest_files(some);
  ASSERT_EQ(a.files.size(), b.files.size());
  for (std::size_t i = 0; i < a.files.size(); ++i)
    EXPECT_EQ(file_of(a.files[i].blocks, "# "), file_of(b.files[i].blocks, "# ")) << a.files[i].name;
  EXPECT_EQ(file_named(a, "test_add.py").blocks.size(), 3U) << "a header and two signatures";
}

TEST(PytestFiles, WhatRaisedIsExpectedToFail) {
  Recorded one = recorded("ttnn.relu(input_tensor=" + kTensor + ")");
  one.raised = "RuntimeError: \"no\"\nnever";
  const Generated made = pytest_files(std::vector{one});
  EXPECT_THAT(text_of(made, "test_relu.py"), HasSubstr(R"(raises="RuntimeError: \"no\"\nnever")"));
  EXPECT_EQ(made.operations.at("ttnn.relu").expected_to_fail, 1);
}

TEST(PytestFiles, WhatCannotBeMadeIsASkippedRowWithItsReason) {
  const Generated made = pytest_files(std::vector{
      recorded("ttnn.relu(input_tensor=" + kTensor + ", sub_core_grids=opaque(Thing,\"at 0x1\"))"),
      recorded("ttnn.no_such_op(input_tensor=" + kTensor + ")"),
  });
  EXPECT_THAT(text_of(made, "test_relu.py"),
              HasSubstr("\"sub_core_grids: a Thing of which the trace has only a text\""));
  EXPECT_EQ(made.not_generated.at("a Thing of which the trace has only a text"), 1);
  EXPECT_EQ(made.not_generated.at("an operation that the tables of ttnn do not have"), 1);
  EXPECT_THAT(text_of(made, "test_no_such_op.py"), HasSubstr("test_no_such_op__not_generated(case)"));
  EXPECT_EQ(made.operations.at("ttnn.relu").generated, 0);
}

TEST(PytestFiles, AMeshIsTheOneOfTheTrace) {
  const Generated made = pytest_files(
      std::vector{recorded("ttnn.experimental.all_gather_async(input_tensor=tensor([1,1,32,64] BFLOAT16 TILE DEVICE "
                           "memory(DRAM INTERLEAVED) "
                           "placed [Shard(2),Replicate] over [2,4] of mesh [2,4]), dim=3, topology=Topology.Linear)",
                           "Wormhole n300 x4")});
  const std::string text = text_of(made, "test_experimental_all_gather_async.py");
  EXPECT_THAT(text, HasSubstr("placements=[ttnn.PlacementShard(2), ttnn.PlacementReplicate()]"));
  EXPECT_THAT(text, HasSubstr("mesh=(2, 4)"));
  EXPECT_THAT(text, HasSubstr("multi_device_global_semaphore=t.semaphores(2)"));
  EXPECT_THAT(text, HasSubstr("reference=None"));
}

TEST(PytestFiles, NamesOfATraceAreNeverCode) {
  Recorded one = recorded("ttnn.relu(input_tensor=" + kTensor + ")");
  one.models = "nice\nimport os";
  Recorded two = one;
  two.config.args.push_back({"x=1);import os;f(y", Value(std::int64_t{1})});
  two.key = "ff00";
  Recorded three = one;
  three.config.op = "ttnn.Tensor.x\nimport os";
  Recorded four = one;
  TensorSpec spec = *one.config.args.front().value.as_tensor();
  spec.placement = Placement{{"Shard(0);import os"}, {1, 2}, {1, 2}};
  four.config.args.front().value = Value::tensor(spec);
  four.key = "ff11";
  const Generated made = pytest_files(std::vector{one, two, three, four});
  for (const GeneratedFile& file : made.files) {
    const std::string text = file_of(file.blocks, file.comment);
    EXPECT_THAT(file.name, testing::MatchesRegex("[a-zA-Z0-9_]+\\.py"));
    if (!file.name.starts_with("test_")) continue;
    EXPECT_THAT(text, Not(HasSubstr("\nimport os")));
    EXPECT_THAT(text, Not(HasSubstr("f(y=")));
  }
  EXPECT_EQ(made.not_generated.at("an argument whose name Python does not take"), 1);
  EXPECT_EQ(made.not_generated.at("an operation that the tables of ttnn do not have"), 1);
  EXPECT_EQ(made.not_generated.at("a tensor placed on the mesh as Shard(0);import os"), 1);
}

TEST(RowNames, NamesThatArePython) {
  EXPECT_TRUE(is_python_name("input_tensor_a"));
  EXPECT_FALSE(is_python_name("from"));
  EXPECT_FALSE(is_python_name("a b"));
  EXPECT_FALSE(is_python_name("1a"));
  EXPECT_FALSE(is_python_name(""));
}

TEST(CaseFiles, LinesByBoardAndOperation) {
  const Generated made = case_files(std::vector{recorded("ttnn.relu(input_tensor=" + kTensor + ")"),
                                                recorded("ttnn.no_such_op(input_tensor=" + kTensor + ")")});
  const std::string text = text_of(made, "cases.txt");
  EXPECT_THAT(text, HasSubstr("# device sim:n150\nttnn.relu(input_tensor="));
  EXPECT_THAT(text, HasSubstr("# not generated (an operation that opwright does not describe): ttnn.no_such_op("));
  EXPECT_EQ(made.not_generated.size(), 1U);
  EXPECT_EQ(made.files.size(), 3U);
}

}  // namespace
}  // namespace opwright::gentest

#include "exec/call_condition.h"

#include <gtest/gtest.h>

#include "exec/call_facts.h"
#include "model/case_line.h"

namespace opwright {
namespace {

constexpr char kCase[] =
    "ttnn.matmul(input_tensor_a=tensor([1,1,64,256] BFLOAT16 TILE DEVICE memory(L1 HEIGHT_SHARDED shard [32,256] on "
    "(0,0)-(1,0) ROW_MAJOR)), input_tensor_b=tensor([256,96] BFLOAT8_B TILE DEVICE memory(DRAM INTERLEAVED)), "
    "transpose_b=false, scale=0.5, bias=none, sizes=[3,5], config=Config(fidelity=MathFidelity.LoFi,dtype=7), "
    "tensors=[tensor([32] INT32 ROW_MAJOR HOST)])";

TEST(CallFacts, SayWhatACallHas) {
  const OpConfig config = *parse_case(kCase);
  const auto fact = [&](std::string_view name) { return fact_of(config.args, name).value_or("nothing"); };
  EXPECT_EQ(fact("input_tensor_a[-1]"), "256");
  EXPECT_EQ(fact("input_tensor_a[2]"), "64");
  EXPECT_EQ(fact("input_tensor_b[-3]"), "1");  // a dimension that is not there is one
  EXPECT_EQ(fact("input_tensor_b[4]"), "nothing");
  EXPECT_EQ(fact("input_tensor_a.rank"), "4");
  EXPECT_EQ(fact("input_tensor_a.memory"), "HEIGHT_SHARDED");
  EXPECT_EQ(fact("input_tensor_a.buffer"), "L1");
  EXPECT_EQ(fact("input_tensor_a.cores"), "2");
  EXPECT_EQ(fact("input_tensor_b.dtype"), "BFLOAT8_B");
  EXPECT_EQ(fact("input_tensor_b.cores"), "1");
  EXPECT_EQ(fact("config.fidelity"), "MathFidelity.LoFi");
  EXPECT_EQ(fact("config.dtype"), "7");  // a field of a struct, no fact of a tensor
  EXPECT_EQ(fact("sizes#1"), "5");
  EXPECT_EQ(fact("sizes#2"), "nothing");
  EXPECT_EQ(fact("tensors#0.layout"), "ROW_MAJOR");
  EXPECT_EQ(fact("bias"), "none");
  EXPECT_EQ(fact("other"), "nothing");
  EXPECT_EQ(fact(""), "nothing");
  EXPECT_EQ(fact("input_tensor_a[x]"), "nothing");
}

TEST(CallCondition, HoldsWhereEveryNeedDoes) {
  const OpConfig config = *parse_case(kCase);
  const auto holds_for = [&](std::string_view text) {
    const auto condition = parse_condition(text);
    EXPECT_TRUE(condition) << text;
    return condition && holds(*condition, config.op, config.args);
  };
  for (const char* text : {"", "ttnn.matmul", "ttnn::matmul", "input_tensor_a[-1] > 255", "input_tensor_a[-1] >= 256",
                           "input_tensor_a[-1] <= 256", "input_tensor_a[-1] < 257", "input_tensor_a[-1] % 32 = 0",
                           "input_tensor_a[-1] % 100 != 0", "scale = 0.5", "scale != 1", "sizes passed", "bias != 3",
                           "input_tensor_a[-1] = input_tensor_b[-2]", "input_tensor_a[-1] != input_tensor_b[-1]",
                           "ttnn.matmul and transpose_b = false and input_tensor_b.dtype = BFLOAT8_B", "other != 3"})
    EXPECT_TRUE(holds_for(text)) << text;
  for (const char* text :
       {"ttnn.add", "input_tensor_a[-1] > 256", "bias passed", "other passed", "other = 3", "other > 3",
        "input_tensor_a.dtype > 3", "input_tensor_a[-1] % 0 = 0", "ttnn.matmul and input_tensor_a[-1] % 32 != 0"})
    EXPECT_FALSE(holds_for(text)) << text;
}

TEST(CallCondition, IsReadBackFromItsText) {
  for (const char* text : {"ttnn.add and a[-1] > 3 and b.dtype = BFLOAT16 and c passed and a[-2] % 32 != 0",
                           "a[-1] % 2 = 0", "x <= 3 and y >= 4 and z < 1 and w != 2"}) {
    const auto condition = parse_condition(text);
    ASSERT_TRUE(condition) << text;
    EXPECT_EQ(to_text(*condition), text);
  }
  EXPECT_FALSE(parse_condition("ttnn.add and nonsense"));
  EXPECT_FALSE(parse_condition("a b c"));
  EXPECT_FALSE(parse_condition("ttnn.add and  = 3"));
}

}  // namespace
}  // namespace opwright

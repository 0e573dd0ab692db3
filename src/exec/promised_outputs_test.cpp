// Outputs that our rules once promised wrongly, as ttnn 0.81.1 returned them on its mock n150.
#include <gtest/gtest.h>

#include "exec/case_line.h"
#include "exec/output_fields.h"
#include "exec/plan_call.h"
#include "model/value.h"

namespace opwright {
namespace {

struct Returned {
  std::string line;
  Shape shape;
  Shape padded;
  std::string memory;
};

std::string dram(const std::string& shape, const std::string& layout = "TILE") {
  return "tensor(" + shape + " BFLOAT16 " + layout + " DEVICE memory(DRAM INTERLEAVED))";
}
std::string pool(const std::string& op, const std::string& input, const std::string& sizes, const std::string& window) {
  return "ttnn." + op + "(input_tensor=" + input + ", " + sizes + ", " + window + ")";
}

TEST(PromisedOutputs, AreWhatTheLibraryReturned) {
  const std::string nd =
      "memory(L1 ND_SHARDED nd_shard [1,2,32,64] on (0,0)-(1,0) ROW_MAJOR distribution=ROUND_ROBIN_1D)";
  const std::vector<Returned> returned{
      // Too large for L1: in slices through DRAM.
      {pool("max_pool2d", dram("[1,512,512,128]", "ROW_MAJOR"), "batch_size=1, input_h=512, input_w=512, channels=128",
            "kernel_size=[3,3], stride=[3,3], padding=[0,0], dilation=[1,1], ceil_mode=true"),
       {1, 171, 171, 128},
       {1, 171, 171, 128},
       "memory(DRAM INTERLEAVED)"},
      // Half tiles that channels fill.
      {pool("max_pool2d", dram("[1,1,3136,48]"), "batch_size=1, input_h=56, input_w=56, channels=48",
            "kernel_size=[5,5], stride=[1,1], padding=[1,1], dilation=[1,1]"),
       {1, 1, 2916, 48},
       {1, 1, 2916, 48},
       "memory(L1 HEIGHT_SHARDED shard [46,48] on (0,0)-(7,7) ROW_MAJOR)"},
      // A large window is worth fewer channels a core.
      {pool("avg_pool2d", dram("[1,1,6272,128]", "ROW_MAJOR"), "batch_size=2, input_h=56, input_w=56, channels=128",
            "kernel_size=[5,5], stride=[2,2], padding=[1,1], ceil_mode=true"),
       {1, 1, 1568, 128},
       {1, 1, 1568, 128},
       "memory(L1 BLOCK_SHARDED shard [196,32] on (0,0)-(3,7) ROW_MAJOR)"},
      // A mean over the whole image stays where the image lies.
      {pool("avg_pool2d", "tensor([1,32,32,128] BFLOAT16 TILE DEVICE memory(L1 INTERLEAVED))",
            "batch_size=1, input_h=32, input_w=32, channels=128",
            "kernel_size=[32,32], stride=[1,1], padding=[0,0], output_layout=Layout.TILE"),
       {1, 1, 1, 128},
       {1, 1, 32, 128},
       "memory(L1 INTERLEAVED)"},
      // A block that is larger than the result.
      {"ttnn.matmul(" + dram("[1,1,512,128]") + ", " + dram("[1,1,128,96]") +
           ", memory_config=memory(L1 BLOCK_SHARDED))",
       {1, 1, 512, 96},
       {1, 1, 512, 96},
       "memory(L1 BLOCK_SHARDED shard [512,96] on (0,0)-(0,0) ROW_MAJOR)"},
      // What lies on one core stays there.
      {"ttnn.linear(tensor([1,1,128,256] BFLOAT16 TILE DEVICE memory(L1 HEIGHT_SHARDED shard [128,256] on (0,0)-(0,0) "
       "ROW_MAJOR)), " +
           dram("[1,1,256,96]") + ", memory_config=memory(L1 HEIGHT_SHARDED shard [128,96] on (0,0)-(0,0) ROW_MAJOR))",
       {1, 1, 128, 96},
       {1, 1, 128, 96},
       "memory(L1 HEIGHT_SHARDED shard [128,96] on (0,0)-(0,0) ROW_MAJOR)"},
      // Values that go out of sight.
      {"ttnn::reshape(arg0=tensor([1,1,96,128] FLOAT32 TILE HOST memory(DRAM INTERLEAVED) tile [32,32] "
       "{alignment=[32,32]}), arg1=[1,1,27,128], arg2=[1,1,96,128])",
       {1, 1, 27, 128},
       {1, 1, 96, 128},
       "none"},
      // An ND spec by its older name.
      {"ttnn.relu(" + dram("[1,4,32,64]") + ", memory_config=" + nd + ")",
       {1, 4, 32, 64},
       {1, 4, 32, 64},
       "memory(L1 HEIGHT_SHARDED shard [64,64] on (0,0)-(1,0) ROW_MAJOR)"},
      // … and one that has none: its rows are not one behind the other.
      {"ttnn.relu(" + dram("[2,2,64,64]") + ", memory_config=" + nd + ")", {2, 2, 64, 64}, {2, 2, 64, 64}, nd},
  };
  const Board board = *find_board("n150");
  for (const Returned& one : returned) {
    const auto config = parse_case(one.line);
    ASSERT_TRUE(config) << config.error().message;
    const auto plan = plan_call(*config, board);
    ASSERT_TRUE(plan) << one.line << ": " << plan.error().message;
    ASSERT_EQ(plan->outputs.size(), 1U);
    const auto fields = output_fields(plan->outputs[0], plan->outputs[0]);
    const auto text = [&](std::string_view name) {
      for (const FieldTexts& field : fields)
        if (field.name == name) return field.first;
      return std::string();
    };
    EXPECT_EQ(text("shape"), to_text(one.shape)) << one.line;
    EXPECT_EQ(text("padded_shape"), to_text(one.padded)) << one.line;
    EXPECT_EQ(text("memory"), one.memory) << one.line;
  }
}

TEST(PromisedOutputs, AConvolutionGivesBackWhatItPrepared) {
  const std::string line =
      "ttnn.conv2d(input_tensor=" + dram("[1,1,1024,16]", "ROW_MAJOR") +
      ", weight_tensor=tensor([32,16,3,3] BFLOAT16 ROW_MAJOR HOST memory(DRAM INTERLEAVED)), "
      "bias_tensor=tensor([1,1,1,32] BFLOAT16 ROW_MAJOR HOST memory(DRAM INTERLEAVED)), in_channels=16, "
      "out_channels=32, batch_size=1, input_height=32, input_width=32, kernel_size=[3,3], stride=[1,1], padding=[1,1], "
      "return_weights_and_bias=true)";
  const auto plan = plan_call(*parse_case(line), *find_board("n150"));
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->outputs.size(), 3U);
  EXPECT_FALSE(has_own_form(plan->outputs[0]));
  EXPECT_EQ(plan->outputs[1].spec.shape, (Shape{1, 1, 144, 32}));
  EXPECT_EQ(plan->outputs[2].spec.shape, (Shape{1, 1, 1, 32}));
  // How its rows are padded is the library's own affair.
  std::vector<OutputSpec> came = plan->outputs;
  came[1].padded = {1, 1, 192, 32};
  EXPECT_TRUE(has_own_form(plan->outputs[1]));
  EXPECT_TRUE(output_differences(plan->outputs, came, "promised", "came").empty());
  came[1].spec.dtype.value = DType::kBfloat8B;
  EXPECT_EQ(output_differences(plan->outputs, came, "promised", "came").size(), 1U);
}

}  // namespace
}  // namespace opwright

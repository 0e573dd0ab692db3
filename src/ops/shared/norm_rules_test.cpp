// Norms, softmax and reductions: what they refuse, what they return, and their exact results.
#include "ops/shared/norm_rules.h"

#include <gtest/gtest.h>

#include "model/test_tensors.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(std::string op, std::vector<Argument> args,
                                       Convention how = Convention::kPython) {
  const OpSpec* spec = find_op(op);
  auto call = bind(*spec, OpConfig{.op = op, .convention = how, .args = std::move(args), .key = {}});
  if (!call) return refuse(call.error());
  return spec->infer(*call, *find_board("n150"));
}

std::string message(const Checked<std::vector<OutputSpec>>& result) {
  return result ? "accepted" : result.error().message;
}

Value given(TensorSpec spec) { return Value::tensor(std::move(spec)); }

MemoryConfig cut_by_width() { return sharded_memory(MemoryLayout::kWidthSharded, shard({32, 64}, {{{0, 0}, {7, 0}}})); }

Value program(std::int64_t block_h, std::int64_t block_w, std::int64_t grid_x = 8) {
  Fields fields;
  fields.emplace_back("compute_with_storage_grid_size", Value(List{Value(grid_x), Value(std::int64_t{1})}));
  fields.emplace_back("subblock_w", Value(std::int64_t{1}));
  fields.emplace_back("block_h", Value(block_h));
  fields.emplace_back("block_w", Value(block_w));
  return Value::structure("LayerNormShardedMultiCoreProgramConfig", std::move(fields));
}

TEST(NormRules, WeightsOfBothFormsFit) {
  const Value x = given(tensor({1, 1, 64, 256}));
  EXPECT_TRUE(infer("ttnn.layer_norm", {{"arg0", x}, {"weight", given(tensor({1, 1, 1, 256}))}}));
  EXPECT_TRUE(infer("ttnn.rms_norm",
                    {{"arg0", x}, {"weight", given(tensor({1, 1, 8, 32}, DType::kBfloat16, Layout::kRowMajor))}}));
  EXPECT_EQ(message(infer("ttnn.layer_norm", {{"arg0", x}, {"weight", given(tensor({1, 1, 33, 256}))}})),
            "Gamma tensor height must equal tile height (32), got: 64");
}

TEST(NormRules, ShardsFollowTheProgramConfiguration) {
  const Value x = given(tensor({1, 1, 32, 512}, DType::kBfloat16, Layout::kTile, cut_by_width()));
  const auto out = infer("ttnn.rms_norm", {{"arg0", x}, {"program_config", program(1, 2)}});
  ASSERT_TRUE(out) << message(out);
  EXPECT_EQ((*out)[0].spec.memory->shard->shape, (Shape{32, 64}));
  EXPECT_EQ(message(infer("ttnn.rms_norm", {{"arg0", x}, {"program_config", program(1, 4)}})),
            "block_w (4) must equal to K (in tiles) / num_cores (2)");
  EXPECT_EQ(message(infer("ttnn.rms_norm", {{"arg0", x}, {"program_config", program(1, 2, 4)}})),
            "shard_spec.grid size 8x1 does not fit within program_config grid 4x1");
}

TEST(NormRules, EmptyTensorsComeBackEmpty) {
  EXPECT_TRUE(infer("ttnn.layer_norm", {{"arg0", given(tensor({1, 1, 0, 64}))}}));
  EXPECT_FALSE(infer("ttnn.layer_norm", {{"arg0", given(tensor({}))}}));
}

TEST(SoftmaxRules, MasksMustFit) {
  const Value x = given(tensor({1, 1, 64, 96}));
  const auto masked = [&](TensorSpec mask) {
    return message(infer("ttnn.scale_mask_softmax_in_place",
                         {{"arg0", x}, {"arg1", Value(0.125)}, {"arg2", given(std::move(mask))}}));
  };
  EXPECT_EQ(masked(tensor({1, 1, 1, 96})), "accepted");
  EXPECT_EQ(masked(tensor({1, 1, 3, 32}, DType::kBfloat16, Layout::kRowMajor)), "accepted");
  EXPECT_EQ(masked(tensor({1, 1, 1, 96}, DType::kBfloat16, Layout::kRowMajor)),
            "Non-sharded mask shape must match expected shape");
  EXPECT_EQ(message(infer("ttnn.scale_mask_softmax_in_place", {{"arg0", x}, {"arg1", Value(0.125)}})),
            "Scale value must not be set when mask is not present");
}

TEST(ReduceRules, DimensionsGoOrStayAsOne) {
  const Value x = given(tensor({2, 3, 50, 70}));
  const auto out =
      infer("ttnn.sum", {{"arg0", x}, {"dim", Value(List{Value(std::int64_t{-1}), Value(std::int64_t{0})})}});
  ASSERT_TRUE(out) << message(out);
  EXPECT_EQ((*out)[0].spec.shape, (Shape{3, 50}));
  EXPECT_EQ(message(infer("ttnn.max", {{"arg0", x}, {"dim", Value(std::int64_t{6})}})),
            "Unsupported dim 6 at index 0. After possible adjustment, needs to be at least 0 and less than rank 4, or "
            "exactly 0 for a rank 0 tensor.");
}

TEST(ReduceRules, LostArgumentsOfOldTraces) {
  const auto out =
      infer("ttnn.softmax_in_place",
            {{"arg0", given(tensor({1, 1, 64, 96}))}, {"arg2", Value::opaque("unsupported", "")}}, Convention::kCpp);
  EXPECT_TRUE(out) << message(out);
}

}  // namespace
}  // namespace opwright

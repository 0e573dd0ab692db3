#include "dialect/ttnn/compute_config.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(ComputeConfig, ReadsTheSpellingsOfBothEras) {
  const Value era1 = Value::structure("WormholeComputeKernelConfig", {{"math_fidelity", Value("MathFidelity::HiFi2")},
                                                                      {"math_approx_mode", Value(std::int64_t{1})},
                                                                      {"fp32_dest_acc_en", Value(std::int64_t{0})},
                                                                      {"packer_l1_acc", Value("true")},
                                                                      {"dst_full_sync_en", Value(false)}});
  const Value era2 =
      Value::structure("ttnn.WormholeComputeKernelConfig", {{"math_fidelity", Value(Enum{"MathFidelity", "HiFi2"})},
                                                            {"math_approx_mode", Value(true)},
                                                            {"fp32_dest_acc_en", Value(false)},
                                                            {"packer_l1_acc", Value(true)},
                                                            {"dst_full_sync_en", Value(false)}});
  for (const Value& value : {era1, era2}) {
    const auto config = compute_config_of(value, {.fp32_acc = true, .dst_full_sync = true});
    ASSERT_TRUE(config);
    EXPECT_EQ(config->fidelity, Fidelity::kHiFi2);
    EXPECT_TRUE(config->approx);
    EXPECT_FALSE(config->fp32_acc);
    EXPECT_TRUE(config->l1_acc);
    EXPECT_FALSE(config->dst_full_sync);
  }
}

TEST(ComputeConfig, FieldsThatAreNotNamedKeepTheDefault) {
  const ComputeConfig otherwise{.fidelity = Fidelity::kLoFi, .fp32_acc = true};
  const auto config =
      compute_config_of(Value::structure("ComputeKernelConfig", {{"packer_l1_acc", Value(true)}}), otherwise);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->fidelity, Fidelity::kLoFi);
  EXPECT_TRUE(config->fp32_acc);
  EXPECT_TRUE(config->l1_acc);
}

TEST(ComputeConfig, OtherValuesAreNone) {
  EXPECT_FALSE(compute_config_of(Value(), {}));
  EXPECT_FALSE(compute_config_of(Value("HiFi4"), {}));
  EXPECT_FALSE(compute_config_of(Value::structure("MatmulProgramConfig", {{"packer_l1_acc", Value(true)}}), {}));
}

TEST(ComputeConfig, FidelitiesHaveTheirLibraryNames) {
  EXPECT_EQ(name_of(Fidelity::kLoFi), "LoFi");
  EXPECT_EQ(name_of(Fidelity::kHiFi4), "HiFi4");
}

}  // namespace
}  // namespace opwright

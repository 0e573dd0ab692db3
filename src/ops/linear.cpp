#include "ops/shared/matmul_exact.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return matmul_budget(call); }

}  // namespace

const OpSpec& linear_op() {
  static const OpSpec spec{
      .name = "ttnn.linear",
      .params = {{.name = "input_tensor_a", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "input_tensor_b", .era1 = 1, .required = true, .role = Role::kPlain},
                 {.name = "bias", .era1 = 2, .role = Role::kBias},
                 {.name = "transpose_a", .era1 = 3},
                 {.name = "transpose_b", .era1 = 4},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "dtype", .era1 = 6},
                 {.name = "program_config", .era1 = 7},
                 {.name = "activation", .era1 = 8, .lost = Lost::kAssumeNone},
                 {.name = "compute_kernel_config", .era1 = 9},
                 {.name = "core_grid", .era1 = 10},
                 {.name = "output_tile", .era1 = 11},
                 {.name = "optional_output_tensor", .era1 = 12, .role = Role::kBuffer},
                 {.name = "global_cb", .era1 = 13, .lost = Lost::kNoMatter},
                 {.name = "sub_device_id", .era1 = 14, .lost = Lost::kNoMatter}},
      .infer = infer_matmul,
      .reference = matmul_reference,
      .budget = budget,
      .work = matmul_work,
      .on_whole = OnWhole::kProducts,
      .sum = matmul_sum,
  };
  return spec;
}

}  // namespace opwright

#include "ops/shared/matmul_exact.h"
#include "ops/shared/matmul_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return matmul_budget(call); }

}  // namespace

const OpSpec& matmul_op() {
  static const OpSpec spec{
      .name = "ttnn.matmul",
      .params = {{.name = "input_tensor_a", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "input_tensor_b", .era1 = 1, .required = true, .role = Role::kPlain},
                 {.name = "transpose_a", .era1 = 2},
                 {.name = "transpose_b", .era1 = 3},
                 {.name = "memory_config", .era1 = 4},
                 {.name = "dtype", .era1 = 5},
                 {.name = "program_config", .era1 = 6},
                 {.name = "activation", .era1 = 7, .lost = Lost::kAssumeNone},
                 {.name = "compute_kernel_config", .era1 = 8},
                 {.name = "core_grid", .era1 = 9},
                 {.name = "output_tile", .era1 = 10},
                 {.name = "optional_output_tensor", .era1 = 11, .role = Role::kBuffer},
                 {.name = "global_cb", .era1 = 12, .lost = Lost::kNoMatter},
                 {.name = "sub_device_id", .era1 = 13, .lost = Lost::kNoMatter}},
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

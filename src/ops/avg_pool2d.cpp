#include "ops/shared/pool_rules.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) {
  // The divisor's inverse is a bfloat16, and so is the sum.
  return {.kind = ErrorBudget::Kind::kElementwise, .ulps = 2, .relative = 0x1p-8, .why = "bf16 mean of a window"};
}

}  // namespace

const OpSpec& avg_pool2d_op() {
  static const OpSpec spec{
      .name = "ttnn.avg_pool2d",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "batch_size", .era1 = 1, .required = true},
                 {.name = "input_h", .era1 = 2, .required = true},
                 {.name = "input_w", .era1 = 3, .required = true},
                 {.name = "channels", .era1 = 4, .required = true},
                 {.name = "kernel_size", .era1 = 5, .required = true},
                 {.name = "stride", .era1 = 6, .required = true},
                 {.name = "padding", .era1 = 7, .required = true},
                 {.name = "ceil_mode", .era1 = 8},
                 {.name = "count_include_pad", .era1 = 9},
                 {.name = "divisor_override", .era1 = 10},
                 {.name = "memory_config", .era1 = 11},
                 {.name = "dram_slice_config"},
                 {.name = "applied_shard_scheme", .era1 = 12},
                 {.name = "compute_kernel_config", .era1 = 13},
                 {.name = "in_place_halo", .era1 = 14, .lost = Lost::kNoMatter},
                 {.name = "deallocate_input", .era1 = 15, .lost = Lost::kNoMatter},
                 {.name = "reallocate_halo_output", .era1 = 16, .lost = Lost::kNoMatter},
                 {.name = "dtype", .era1 = 17},
                 {.name = "output_layout", .era1 = 18},
                 {.name = "config_tensor_in_dram", .lost = Lost::kNoMatter}},
      .infer = infer_avg_pool,
      .reference = avg_pool_reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright

#include "ops/shared/pool_rules.h"

namespace opwright {
namespace {

ErrorBudget budget(const BoundCall&, std::span<const OutputSpec>, std::size_t) {
  return {.kind = ErrorBudget::Kind::kExact, .why = "the largest of the window's own values"};
}

}  // namespace

const OpSpec& max_pool2d_op() {
  static const OpSpec spec{
      .name = "ttnn.max_pool2d",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                 {.name = "batch_size", .era1 = 1, .required = true},
                 {.name = "input_h", .era1 = 2, .required = true},
                 {.name = "input_w", .era1 = 3, .required = true},
                 {.name = "channels", .era1 = 4, .required = true},
                 {.name = "kernel_size", .era1 = 5, .required = true},
                 {.name = "stride", .era1 = 6, .required = true},
                 {.name = "padding", .era1 = 7, .required = true},
                 {.name = "dilation", .era1 = 8, .required = true},
                 {.name = "ceil_mode", .era1 = 9},
                 {.name = "memory_config", .era1 = 10},
                 {.name = "dram_slice_config"},
                 {.name = "applied_shard_scheme", .era1 = 11},
                 {.name = "in_place_halo", .era1 = 12, .lost = Lost::kNoMatter},
                 {.name = "deallocate_input", .era1 = 13, .lost = Lost::kNoMatter},
                 {.name = "reallocate_halo_output", .era1 = 14, .lost = Lost::kNoMatter},
                 {.name = "return_indices", .era1 = 15},
                 {.name = "dtype", .era1 = 16},
                 {.name = "output_layout", .era1 = 17},
                 {.name = "config_tensor_in_dram", .lost = Lost::kNoMatter}},
      .infer = infer_pool,
      .reference = max_pool_reference,
      .budget = budget,
      .on_whole = OnWhole::kSelects,
  };
  return spec;
}

}  // namespace opwright

#include "ops/shared/norm_rules.h"

namespace opwright {
namespace {

constexpr ComputeConfig kDefaults{.fidelity = Fidelity::kHiFi4, .approx = true};

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  return infer_row_norm(call, board, NormKind::kRms);
}

Checked<Exact> reference(const ReferenceJob& job) { return row_norm_reference(job, NormKind::kRms); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  return norm_budget(compute_argument(call, kDefaults).value_or(kDefaults), row_length(outputs[output].spec.shape),
                     legacy_rsqrt(call));
}

}  // namespace

const OpSpec& rms_norm_op() {
  static const OpSpec spec{
      .name = "ttnn.rms_norm",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kNormed},
                 {.name = "epsilon", .era1 = 1},
                 {.name = "weight", .era1 = 2, .role = Role::kGains},
                 {.name = "bias", .era1 = 3, .role = Role::kPlain},
                 {.name = "residual_input_tensor", .era1 = 4, .role = Role::kNormed},
                 {.name = "memory_config", .era1 = 5},
                 {.name = "program_config", .era1 = 6, .lost = Lost::kAssumeNone},
                 {.name = "compute_kernel_config", .era1 = 7}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright

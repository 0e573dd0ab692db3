#include "ops/shared/reduce_rules.h"

namespace opwright {
namespace {

constexpr ReduceKind kKind = ReduceKind::kMean;

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  return infer_reduce(call, board, kKind);
}

Checked<Exact> reference(const ReferenceJob& job) { return reduce_reference(job, kKind); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  return reduce_budget(call, kKind);
}

}  // namespace

const OpSpec& mean_op() {
  static const OpSpec spec{
      .name = "ttnn.mean",
      .params = reduce_params(kKind),
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright

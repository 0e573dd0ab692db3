#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.name = "ttnn.sigmoid", .type = "SIGMOID"};

std::vector<Param> params() {
  return {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
          {.name = "vector_mode", .era1 = 1},
          {.name = "mode"},
          {.name = "fast_and_approximate_mode", .era1 = 2},
          {.name = "memory_config", .era1 = 3},
          {.name = "output_tensor", .era1 = 4, .role = Role::kBuffer},
          {.name = "sub_core_grids", .era1 = 5, .lost = Lost::kNoMatter}};
}

// Other vector modes work on a part of each tile only.
Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t mode, call.integer("vector_mode", 4));
  if (mode != 4) return unsupported("vector_mode", "a part of each tile");
  return infer_unary(kOp, call, board);
}

}  // namespace

const OpSpec& sigmoid_op() {
  static const OpSpec spec{.name = kOp.name,
                           .params = params(),
                           .infer = infer,
                           .reference = [](const ReferenceJob& job) { return unary_reference(kOp, job); },
                           .budget = [](const BoundCall& call, std::span<const OutputSpec> outputs,
                                        std::size_t) { return unary_budget(kOp, call, outputs); }};
  return spec;
}

}  // namespace opwright

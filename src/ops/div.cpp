#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.name = "ttnn.div",
                       .type = "DIV",
                       .dtypes = BinaryOp::Dtypes::kQuotient,
                       .exact = [](double a, double b) { return a / b; },
                       .number = "value",
                       .alias = "ttnn.divide"};

// Era-1 traces have the flag of the accurate variant where later ones have that of the fast one.
std::vector<Param> params() {
  return {{.name = "input_tensor_a", .era1 = 0, .required = true, .role = Role::kPlain},
          {.name = "input_tensor_b", .era1 = 1, .required = true, .place = 1, .role = Role::kNonZero},
          {.name = "fast_and_approximate_mode"},
          {.name = "accurate_mode", .era1 = 2},
          {.name = "rounding_mode", .era1 = 3},
          {.name = "dtype", .era1 = 4},
          {.name = "memory_config", .era1 = 5},
          {.name = "output_tensor", .era1 = 6, .role = Role::kBuffer},
          {.name = "activations", .era1 = 7, .lost = Lost::kAssumeNone},
          {.name = "input_tensor_a_activations", .era1 = 8, .lost = Lost::kAssumeNone},
          {.name = "input_tensor_b_activations", .era1 = 9, .lost = Lost::kAssumeNone},
          {.name = "use_legacy", .era1 = 10, .lost = Lost::kNoMatter},
          {.name = "sub_core_grids", .era1 = 11, .lost = Lost::kNoMatter},
          {.name = "sub_device_id", .lost = Lost::kNoMatter},
          {.name = kOp.number}};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(call.flag("accurate_mode", false));
  OPWRIGHT_CHECK_ASSIGN(const std::string rounding, call.text("rounding_mode", ""));
  if (rounding == "trunc" || rounding == "floor") return unsupported("rounding_mode", "division that rounds");
  if (!rounding.empty()) return refuse("Incorrect rounding mode (expected None, 'trunc', or 'floor')", "rounding_mode");
  return infer_binary(kOp, call, board);
}

}  // namespace

const OpSpec& div_op() {
  static const OpSpec spec = [] {
    OpSpec out = binary_spec<kOp>(params());
    out.infer = infer;
    return out;
  }();
  return spec;
}

}  // namespace opwright

#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "SQRT", .function = "sqrt", .fast_flag = true};

}  // namespace

const OpSpec& sqrt_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.sqrt");
  return spec;
}

}  // namespace opwright

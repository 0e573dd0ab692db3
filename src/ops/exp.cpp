#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "EXP", .function = "exp", .fast_flag = true};

}  // namespace

const OpSpec& exp_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.exp");
  return spec;
}

}  // namespace opwright

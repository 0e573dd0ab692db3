#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "TANH", .function = "tanh", .fast_flag = true};

}  // namespace

const OpSpec& tanh_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.tanh");
  return spec;
}

}  // namespace opwright

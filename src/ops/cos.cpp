#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "COS", .function = "cos", .floor = 0.0625};

}  // namespace

const OpSpec& cos_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.cos");
  return spec;
}

}  // namespace opwright

#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "SIN", .function = "sin", .floor = 0.0625};

}  // namespace

const OpSpec& sin_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.sin");
  return spec;
}

}  // namespace opwright

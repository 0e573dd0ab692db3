#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "SQUARE", .function = "square", .integers = UnaryOp::Integers::kNotUint8, .ulps = 1};

}  // namespace

const OpSpec& square_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.square");
  return spec;
}

}  // namespace opwright

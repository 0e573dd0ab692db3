#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "RECIP", .function = "reciprocal"};

}  // namespace

const OpSpec& reciprocal_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.reciprocal");
  return spec;
}

}  // namespace opwright

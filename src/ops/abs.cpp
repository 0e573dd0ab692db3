#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "ABS", .function = "abs", .integers = UnaryOp::Integers::kAll, .exact = true, .ulps = 1};

}  // namespace

const OpSpec& abs_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.abs");
  return spec;
}

}  // namespace opwright

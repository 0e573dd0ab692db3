#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{
    .type = "RELU", .function = "relu", .integers = UnaryOp::Integers::kAll, .exact = true, .ulps = 1};

}  // namespace

const OpSpec& relu_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.relu");
  return spec;
}

}  // namespace opwright

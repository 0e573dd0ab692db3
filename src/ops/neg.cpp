#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{
    .type = "NEG", .function = "neg", .integers = UnaryOp::Integers::kInt32, .exact = true, .ulps = 1};

}  // namespace

const OpSpec& neg_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.neg");
  return spec;
}

}  // namespace opwright

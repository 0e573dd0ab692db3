#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{
    .type = "MUL", .dtypes = BinaryOp::Dtypes::kProduct, .exact = [](double a, double b) { return a * b; }};

}  // namespace

const OpSpec& multiply_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.multiply", {"ttnn.mul"});
  return spec;
}

}  // namespace opwright

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "MUL",
                       .dtypes = BinaryOp::Dtypes::kProduct,
                       .exact = [](double a, double b) { return a * b; },
                       .in_place = true};

}  // namespace

const OpSpec& multiply_in_place_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.multiply_");
  return spec;
}

}  // namespace opwright

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "EQ",
                       .dtypes = BinaryOp::Dtypes::kCompare,
                       .exact = [](double a, double b) { return a == b ? 1.0 : 0.0; },
                       .rounds = false};

}  // namespace

const OpSpec& eq_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.eq");
  return spec;
}

}  // namespace opwright

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "NE",
                       .dtypes = BinaryOp::Dtypes::kCompare,
                       .exact = [](double a, double b) { return a != b ? 1.0 : 0.0; },
                       .rounds = false};

}  // namespace

const OpSpec& ne_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.ne");
  return spec;
}

}  // namespace opwright

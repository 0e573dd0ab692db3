#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "GT",
                       .dtypes = BinaryOp::Dtypes::kCompare,
                       .exact = [](double a, double b) { return a > b ? 1.0 : 0.0; },
                       .rounds = false};

}  // namespace

const OpSpec& gt_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.gt");
  return spec;
}

}  // namespace opwright

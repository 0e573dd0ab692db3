#include <algorithm>

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "MINIMUM",
                       .dtypes = BinaryOp::Dtypes::kSame,
                       .exact = [](double a, double b) { return std::min(a, b); },
                       .rounds = false};

}  // namespace

const OpSpec& minimum_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.minimum");
  return spec;
}

}  // namespace opwright

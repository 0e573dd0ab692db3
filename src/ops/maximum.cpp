#include <algorithm>

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "MAXIMUM",
                       .dtypes = BinaryOp::Dtypes::kSame,
                       .exact = [](double a, double b) { return std::max(a, b); },
                       .rounds = false};

}  // namespace

const OpSpec& maximum_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.maximum");
  return spec;
}

}  // namespace opwright

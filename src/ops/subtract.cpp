#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "SUB", .exact = [](double a, double b) { return a - b; }, .cancels = true};

}  // namespace

const OpSpec& subtract_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.subtract", {"ttnn.sub"});
  return spec;
}

}  // namespace opwright

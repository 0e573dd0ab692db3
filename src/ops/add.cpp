#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "ADD", .exact = [](double a, double b) { return a + b; }, .cancels = true};

}  // namespace

const OpSpec& add_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.add");
  return spec;
}

}  // namespace opwright

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{
    .type = "SUB", .exact = [](double a, double b) { return a - b; }, .in_place = true, .cancels = true};

}  // namespace

const OpSpec& subtract_in_place_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.subtract_");
  return spec;
}

}  // namespace opwright

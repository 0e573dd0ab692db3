#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{
    .type = "ADD", .exact = [](double a, double b) { return a + b; }, .in_place = true, .cancels = true};

}  // namespace

const OpSpec& add_in_place_op() {
  static const OpSpec spec = binary_spec<kOp>("ttnn.add_");
  return spec;
}

}  // namespace opwright

#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "ERF", .function = "erf", .fast_flag = true, .floor = 0.0625};

}  // namespace

const OpSpec& erf_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.erf");
  return spec;
}

}  // namespace opwright

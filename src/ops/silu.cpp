#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "SILU", .function = "silu", .floor = 0.0625};

}  // namespace

const OpSpec& silu_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.silu", {"ttnn.swish"});
  return spec;
}

}  // namespace opwright

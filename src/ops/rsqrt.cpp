#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "RSQRT", .function = "rsqrt", .fast_flag = true};

}  // namespace

const OpSpec& rsqrt_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.rsqrt");
  return spec;
}

}  // namespace opwright

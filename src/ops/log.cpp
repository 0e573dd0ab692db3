#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "LOG", .function = "log", .fast_flag = true, .floor = 0.0625};

}  // namespace

const OpSpec& log_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.log");
  return spec;
}

}  // namespace opwright

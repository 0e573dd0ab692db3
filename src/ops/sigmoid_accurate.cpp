#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "SIGMOID", .function = "sigmoid", .fast_flag = true};

}  // namespace

const OpSpec& sigmoid_accurate_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.sigmoid_accurate");
  return spec;
}

}  // namespace opwright

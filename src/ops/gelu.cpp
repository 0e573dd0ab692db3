#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr UnaryOp kOp{.type = "GELU", .function = "gelu", .fast_flag = true, .floor = 0.0625};

std::vector<Param> params() {
  std::vector<Param> out = unary_params(true);
  out.push_back({.name = "variant"});
  return out;
}

}  // namespace

const OpSpec& gelu_op() {
  static const OpSpec spec = unary_spec<kOp>("ttnn.gelu", {}, params());
  return spec;
}

}  // namespace opwright

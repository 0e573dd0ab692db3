#include <algorithm>

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.type = "MINIMUM",
                       .dtypes = BinaryOp::Dtypes::kSame,
                       .exact = [](double a, double b) { return std::min(a, b); },
                       .rounds = false};

// The overload for a number calls it otherwise.
std::vector<Param> params() {
  std::vector<Param> out = binary_params();
  out[1].place = 1;
  out.push_back({.name = "input_b"});
  return out;
}

Checked<void> rebind(BoundCall& call) {
  rename_operand(call, "input_b", kOp.second);
  return {};
}

}  // namespace

const OpSpec& minimum_op() {
  static const OpSpec spec = [] {
    OpSpec out = binary_spec<kOp>("ttnn.minimum", {}, params());
    out.rebind = rebind;
    return out;
  }();
  return spec;
}

}  // namespace opwright

#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.name = "ttnn.multiply_",
                       .type = "MUL",
                       .dtypes = BinaryOp::Dtypes::kProduct,
                       .exact = [](double a, double b) { return a * b; },
                       .in_place = true,
                       .first = "input_a",
                       .second = "input_b",
                       .on_whole = OnWhole::kKept};

// The library's own names; other releases have those of the other in-place operations.
std::vector<Param> params() {
  std::vector<Param> out = binary_params(kOp);
  out.push_back({.name = "input_tensor_a"});
  out.push_back({.name = "input_tensor_b"});
  return out;
}

Checked<void> rebind(BoundCall& call) {
  rename_operand(call, "input_tensor_a", kOp.first);
  rename_operand(call, "input_tensor_b", kOp.second);
  return {};
}

}  // namespace

const OpSpec& multiply_in_place_op() {
  static const OpSpec spec = [] {
    OpSpec out = binary_spec<kOp>(params());
    out.rebind = rebind;
    return out;
  }();
  return spec;
}

}  // namespace opwright

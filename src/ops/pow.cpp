#include <fmt/format.h>

#include <cmath>

#include "ops/shared/binary.h"
#include "ops/shared/eltwise.h"
#include "ops/shared/unary.h"

namespace opwright {
namespace {

constexpr BinaryOp kOp{.name = "ttnn.pow",
                       .type = "POWER",
                       .dtypes = BinaryOp::Dtypes::kPower,
                       .exact = [](double a, double b) { return std::pow(a, b); },
                       .ulps = 4,
                       .first = "input_tensor",
                       .second = "exponent"};
constexpr UnaryOp kScalar{.name = kOp.name, .type = "POWER", .integers = UnaryOp::Integers::kNotUint8};

std::vector<Param> params() {
  std::vector<Param> out = binary_params(kOp);
  out[0].role = Role::kPositive;
  // With a number for exponent the C++ call has no dtype.
  for (Param& param : out)
    if (param.name == "dtype")
      param.era1 = -1;
    else if (param.era1 > 2)
      --param.era1;
  return out;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  const TensorSpec* input = call.tensor("input_tensor");
  if (input == nullptr || call.tensor("exponent") != nullptr) return infer_binary(kOp, call, board);
  OPWRIGHT_CHECK_ASSIGN(const double exponent, call.number("exponent", 1));
  const DType dtype = input->dtype.value;
  if (is_integer(dtype) && dtype != DType::kUint8) {
    OPWRIGHT_REQUIRE(exponent == std::trunc(exponent), "pow: {} input requires an integral exponent, got {}",
                     eltwise::dtype_text(dtype), exponent);
    OPWRIGHT_REQUIRE(exponent >= 0, "pow: integers to negative integer powers are not allowed, got {}", exponent);
  }
  return infer_unary(kScalar, call, board);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t) {
  ErrorBudget out = binary_budget(kOp, call, outputs);
  if (out.kind == ErrorBudget::Kind::kElementwise) out.relative += 0x1p-6;
  return out;
}

}  // namespace

const OpSpec& pow_op() {
  static const OpSpec spec = [] {
    OpSpec out = binary_spec<kOp>(params());
    out.infer = infer;
    out.budget = budget;
    return out;
  }();
  return spec;
}

}  // namespace opwright

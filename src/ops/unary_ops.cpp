// Functions of one tensor, a row each. Those that need more than a row (clamp, sigmoid) have files of their own.
#include <array>
#include <utility>

#include "ops/families.h"
#include "ops/shared/unary.h"

namespace opwright {
namespace {

using Integers = UnaryOp::Integers;

// clang-format off
constexpr std::array kRows{
    UnaryOp{.name = "ttnn.abs", .type = "ABS", .integers = Integers::kAll, .exact = true, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.acos", .type = "ACOS", .floor = 0.0625},
    UnaryOp{.name = "ttnn.acosh", .type = "ACOSH", .floor = 0.0625, .data = Role::kAboveOne},
    UnaryOp{.name = "ttnn.asin", .type = "ASIN", .floor = 0.0625},
    UnaryOp{.name = "ttnn.asinh", .type = "ASINH", .floor = 0.0625},
    UnaryOp{.name = "ttnn.atan", .type = "ATAN", .floor = 0.0625},
    UnaryOp{.name = "ttnn.atanh", .type = "ATANH", .floor = 0.0625},
    UnaryOp{.name = "ttnn.bitwise_not", .type = "BITWISE_NOT", .integers = Integers::kWide, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.cbrt", .type = "CBRT"},
    UnaryOp{.name = "ttnn.ceil", .type = "CEIL", .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.celu", .type = "CELU", .floor = 0.0625, .numbers = {UnaryNumber{"alpha", 1}}},
    UnaryOp{.name = "ttnn.cos", .type = "COS", .floor = 0.0625},
    UnaryOp{.name = "ttnn.cosh", .type = "COSH"},
    UnaryOp{.name = "ttnn.deg2rad", .type = "MUL_UNARY_SFPU"},
    UnaryOp{.name = "ttnn.digamma", .type = "DIGAMMA", .floor = 1, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.elu", .type = "ELU", .floor = 0.0625, .numbers = {UnaryNumber{"alpha", 1}}},
    UnaryOp{.name = "ttnn.eqz", .type = "EQZ", .integers = Integers::kAll, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.erf", .type = "ERF", .fast_flag = true, .floor = 0.0625},
    UnaryOp{.name = "ttnn.erfc", .type = "ERFC", .floor = 0.0625},
    UnaryOp{.name = "ttnn.erfinv", .type = "ERFINV", .ulps = 8, .floor = 0.0625},
    UnaryOp{.name = "ttnn.exp", .type = "EXP", .fast_flag = true},
    UnaryOp{.name = "ttnn.exp2", .type = "EXP2"},
    UnaryOp{.name = "ttnn.expm1", .type = "EXPM1", .floor = 0.0625},
    UnaryOp{.name = "ttnn.fill", .type = "FILL", .integers = Integers::kAll, .exact = true, .ulps = 1, .numbers = {UnaryNumber{"fill_value", 0, true}}, .constant = true},
    UnaryOp{.name = "ttnn.floor", .type = "FLOOR", .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.frac", .type = "FRAC", .floor = 0.0625},
    UnaryOp{.name = "ttnn.gelu", .type = "GELU", .fast_flag = true, .floor = 0.0625, .keyword = "variant"},
    UnaryOp{.name = "ttnn.gtz", .type = "GTZ", .integers = Integers::kInt32, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.hardshrink", .type = "HARDSHRINK", .exact = true, .ulps = 1, .numbers = {UnaryNumber{"lambd", 0.5}}},
    UnaryOp{.name = "ttnn.hardsigmoid", .type = "HARDSIGMOID", .floor = 1},
    UnaryOp{.name = "ttnn.hardswish", .type = "HARDSWISH", .floor = 1},
    UnaryOp{.name = "ttnn.hardtanh", .type = "HARDTANH", .exact = true, .ulps = 1, .numbers = {UnaryNumber{"min_val", -1}, UnaryNumber{"max_val", 1}}},
    UnaryOp{.name = "ttnn.heaviside", .type = "HEAVISIDE", .exact = true, .ulps = 1, .numbers = {UnaryNumber{"value", 0, true}}},
    UnaryOp{.name = "ttnn.i0", .type = "I0"},
    UnaryOp{.name = "ttnn.identity", .type = "IDENTITY", .integers = Integers::kAll, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.isfinite", .type = "ISFINITE", .exact = true, .ulps = 1, .data = Role::kUnbounded},
    UnaryOp{.name = "ttnn.isinf", .type = "ISINF", .exact = true, .ulps = 1, .data = Role::kUnbounded},
    UnaryOp{.name = "ttnn.isnan", .type = "ISNAN", .exact = true, .ulps = 1, .data = Role::kUnbounded},
    UnaryOp{.name = "ttnn.isneginf", .type = "ISNEGINF", .exact = true, .ulps = 1, .data = Role::kUnbounded},
    UnaryOp{.name = "ttnn.isposinf", .type = "ISPOSINF", .exact = true, .ulps = 1, .data = Role::kUnbounded},
    UnaryOp{.name = "ttnn.leaky_relu", .type = "LEAKY_RELU", .integers = Integers::kUnsigned, .numbers = {UnaryNumber{"negative_slope", 0.01}}},
    UnaryOp{.name = "ttnn.lez", .type = "LEZ", .integers = Integers::kInt32, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.lgamma", .type = "LGAMMA", .floor = 1, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.log", .type = "LOG", .fast_flag = true, .floor = 0.0625, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.log10", .type = "LOG10", .fast_flag = true, .floor = 0.0625, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.log1p", .type = "LOG1P", .fast_flag = true, .floor = 0.0625, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.log2", .type = "LOG2", .fast_flag = true, .floor = 0.0625, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.log_sigmoid", .type = "LOGSIGMOID", .floor = 0.0625},
    UnaryOp{.name = "ttnn.logical_not", .type = "LOGICAL_NOT_UNARY", .integers = Integers::kAll, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.logical_not_", .type = "LOGICAL_NOT_UNARY", .integers = Integers::kAll, .exact = true, .ulps = 1, .in_place = true},
    UnaryOp{.name = "ttnn.logit", .type = "LOGIT", .floor = 1, .numbers = {UnaryNumber{"eps", 0}}},
    UnaryOp{.name = "ttnn.ltz", .type = "LTZ", .integers = Integers::kInt32, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.mish", .type = "MISH", .floor = 0.0625},
    UnaryOp{.name = "ttnn.neg", .type = "NEG", .integers = Integers::kInt32, .exact = true, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.nez", .type = "NEZ", .integers = Integers::kAll, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.rad2deg", .type = "MUL_UNARY_SFPU"},
    UnaryOp{.name = "ttnn.rdiv", .type = "RDIV", .data = Role::kNonZero, .numbers = {UnaryNumber{"value", 1, true}}},
    UnaryOp{.name = "ttnn.reciprocal", .type = "RECIP", .data = Role::kNonZero},
    UnaryOp{.name = "ttnn.relu", .type = "RELU", .integers = Integers::kAll, .exact = true, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.relu6", .type = "RELU6", .integers = Integers::kAll, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.relu_max", .type = "RELU_MAX", .integers = Integers::kAll, .exact = true, .ulps = 1, .numbers = {UnaryNumber{"upper_limit", 0, true}}},
    UnaryOp{.name = "ttnn.relu_min", .type = "RELU_MIN", .integers = Integers::kAll, .exact = true, .ulps = 1, .numbers = {UnaryNumber{"lower_limit", 0, true}}},
    UnaryOp{.name = "ttnn.round", .type = "ROUND", .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.rpow", .type = "RPOW", .ulps = 4, .numbers = {UnaryNumber{"exponent", 1, true}}},
    UnaryOp{.name = "ttnn.rsqrt", .type = "RSQRT", .fast_flag = true, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.selu", .type = "SELU", .ulps = 4, .floor = 0.0625, .numbers = {UnaryNumber{"scale", 1.0507009873554805}, UnaryNumber{"alpha", 1.6732632423543772}}},
    UnaryOp{.name = "ttnn.sigmoid_accurate", .type = "SIGMOID", .fast_flag = true},
    UnaryOp{.name = "ttnn.sign", .type = "SIGN", .integers = Integers::kNone, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.signbit", .type = "SIGNBIT", .integers = Integers::kInt32, .exact = true, .ulps = 1},
    UnaryOp{.name = "ttnn.silu", .type = "SILU", .floor = 0.0625, .alias = "ttnn.swish"},
    UnaryOp{.name = "ttnn.sin", .type = "SIN", .floor = 0.0625},
    UnaryOp{.name = "ttnn.sinh", .type = "SINH", .floor = 0.0625},
    UnaryOp{.name = "ttnn.softplus", .type = "SOFTPLUS", .floor = 0.0625, .numbers = {UnaryNumber{"beta", 1}, UnaryNumber{"threshold", 20}}},
    UnaryOp{.name = "ttnn.softshrink", .type = "SOFTSHRINK", .floor = 0.0625, .numbers = {UnaryNumber{"lambd", 0.5}}},
    UnaryOp{.name = "ttnn.softsign", .type = "SOFTSIGN", .floor = 0.0625},
    UnaryOp{.name = "ttnn.sqrt", .type = "SQRT", .fast_flag = true, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.square", .type = "SQUARE", .integers = Integers::kNotUint8, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.tan", .type = "TAN", .floor = 1},
    UnaryOp{.name = "ttnn.tanh", .type = "TANH", .fast_flag = true},
    UnaryOp{.name = "ttnn.tanhshrink", .type = "TANHSHRINK", .floor = 0.0625},
    UnaryOp{.name = "ttnn.threshold", .type = "THRESHOLD", .exact = true, .ulps = 1, .numbers = {UnaryNumber{"threshold", 0, true}, UnaryNumber{"value", 0, true}}},
    UnaryOp{.name = "ttnn.trunc", .type = "TRUNC", .exact = true, .ulps = 1},
};
// clang-format on

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t Row>
OpSpec spec() {
  constexpr const UnaryOp& kOp = kRows[Row];
  OpSpec out{.name = kOp.name,
             .params = unary_params(kOp),
             .infer = [](const BoundCall& call, const Board& board) { return infer_unary(kRows[Row], call, board); },
             .reference = [](const ReferenceJob& job) { return unary_reference(kRows[Row], job); },
             .budget = [](const BoundCall& call, std::span<const OutputSpec> outputs,
                          std::size_t) { return unary_budget(kRows[Row], call, outputs); },
             .corners = [](const BoundCall&) { return unary_corners(kRows[Row]); },
             .on_whole = kOp.on_whole,
             .constant = kOp.constant};
  if (!kOp.alias.empty()) out.aliases.push_back(kOp.alias);
  return out;
}

}  // namespace

std::span<const OpSpec> unary_ops() {
  static const auto list = []<std::size_t... Row>(std::index_sequence<Row...>) {
    return std::array{spec<Row>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright

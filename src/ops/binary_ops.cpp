// Functions of two tensors, or of a tensor and a number, a row each: arithmetic and comparisons. Those that need more
// than a row (div, pow) have files of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "ops/families.h"
#include "ops/shared/binary.h"

namespace opwright {
namespace {

constexpr auto kSum = [](double a, double b) { return a + b; };
constexpr auto kDifference = [](double a, double b) { return a - b; };

constexpr BinaryOp comparison(std::string_view name, std::string_view type, double (*exact)(double, double)) {
  return {.name = name,
          .type = type,
          .dtypes = BinaryOp::Dtypes::kCompare,
          .exact = exact,
          .rounds = false,
          .data = Role::kCoarse};
}
constexpr BinaryOp logical(std::string_view name, std::string_view type, double (*exact)(double, double)) {
  BinaryOp out = comparison(name, type, exact);
  out.dtypes = BinaryOp::Dtypes::kSum;
  return out;
}
constexpr BinaryOp extreme(std::string_view name, std::string_view type, double (*exact)(double, double)) {
  return {.name = name,
          .type = type,
          .dtypes = BinaryOp::Dtypes::kSame,
          .exact = exact,
          .rounds = false,
          .number = "input_b",
          .on_whole = OnWhole::kKept};
}

// The same, written into its first operand. The library's own names of both are others.
constexpr BinaryOp in_place(BinaryOp op) {
  op.in_place = true;
  op.first = "input_a";
  op.second = "input_b";
  return op;
}

constexpr auto kLogAddExp = [](double a, double b) {
  const double larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(-std::fabs(a - b)));
};
constexpr auto kLogAddExp2 = [](double a, double b) {
  const double larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp2(-std::fabs(a - b))) * M_LOG2E;
};
// log(exp(a) + exp(b)), as kernels compute it, is infinite where an exponential is, or where both are 0.
constexpr auto kLogAddExpEnds = [](double a, double b) { return std::max(a, b) > 88 || std::max(a, b) < -87; };
constexpr auto kLogAddExp2Ends = [](double a, double b) { return std::max(a, b) >= 127 || std::max(a, b) < -125; };
constexpr auto kBiasGelu = [](double a, double b) { return 0.5 * (a + b) * std::erfc(-(a + b) * M_SQRT1_2); };
// Of the divisor's sign.
constexpr auto kRemainder = [](double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
};
// 32-bit integers; what a shift by more than they have leaves is 0.
constexpr auto kShiftedLeft = [](double a, double b) {
  return b < 0 || b > 31 ? 0.0 : std::ldexp(a, static_cast<int>(b));
};
constexpr auto kShiftedRight = [](double a, double b) {
  return b < 0 || b > 31 ? 0.0 : std::floor(std::ldexp(a, -static_cast<int>(b)));
};
constexpr auto kGreatestDivisor = [](double a, double b) {
  return static_cast<double>(std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
};
template <class F>
double bits(double a, double b, F f) {
  return static_cast<double>(f(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

// clang-format off
constexpr std::array kRows{
    BinaryOp{.name = "ttnn.add", .type = "ADD", .exact = kSum, .cancels = true, .on_whole = OnWhole::kKept},
    BinaryOp{.name = "ttnn.add_", .type = "ADD", .exact = kSum, .in_place = true, .cancels = true, .on_whole = OnWhole::kKept},
    BinaryOp{.name = "ttnn.atan2", .type = "ATAN2", .dtypes = BinaryOp::Dtypes::kPower, .exact = [](double a, double b) { return std::atan2(a, b); }, .ulps = 4, .takes_number = false, .converts = false},
    BinaryOp{.name = "ttnn.bias_gelu", .type = "BIAS_GELU", .dtypes = BinaryOp::Dtypes::kPower, .exact = kBiasGelu, .cancels = true, .ulps = 4},
    in_place(BinaryOp{.name = "ttnn.bias_gelu_", .type = "BIAS_GELU", .dtypes = BinaryOp::Dtypes::kPower, .exact = kBiasGelu, .cancels = true, .ulps = 4}),
    BinaryOp{.name = "ttnn.bitwise_and", .type = "BITWISE_AND", .dtypes = BinaryOp::Dtypes::kInteger, .exact = [](double a, double b) { return bits(a, b, std::bit_and<std::int64_t>()); }, .rounds = false, .number = "input_b", .converts = false},
    BinaryOp{.name = "ttnn.bitwise_left_shift", .type = "LEFT_SHIFT", .dtypes = BinaryOp::Dtypes::kInteger, .exact = kShiftedLeft, .rounds = false, .number = "input_b", .converts = false},
    BinaryOp{.name = "ttnn.bitwise_or", .type = "BITWISE_OR", .dtypes = BinaryOp::Dtypes::kInteger, .exact = [](double a, double b) { return bits(a, b, std::bit_or<std::int64_t>()); }, .rounds = false, .number = "input_b", .converts = false},
    BinaryOp{.name = "ttnn.bitwise_right_shift", .type = "RIGHT_SHIFT", .dtypes = BinaryOp::Dtypes::kInteger, .exact = kShiftedRight, .rounds = false, .number = "input_b", .converts = false},
    BinaryOp{.name = "ttnn.bitwise_xor", .type = "BITWISE_XOR", .dtypes = BinaryOp::Dtypes::kInteger, .exact = [](double a, double b) { return bits(a, b, std::bit_xor<std::int64_t>()); }, .rounds = false, .number = "input_b", .converts = false},
    BinaryOp{.name = "ttnn.div_no_nan", .type = "DIV_NO_NAN", .dtypes = BinaryOp::Dtypes::kQuotient, .exact = [](double a, double b) { return b == 0 ? 0.0 : a / b; }, .ulps = 2, .number = "value", .converts = false},
    in_place(BinaryOp{.name = "ttnn.divide_", .type = "DIV", .dtypes = BinaryOp::Dtypes::kQuotient, .exact = [](double a, double b) { return a / b; }, .data = Role::kNonZero}),
    comparison("ttnn.eq", "EQ", [](double a, double b) { return a == b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.eq_", "EQ", [](double a, double b) { return a == b ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.floor_div", .type = "FLOOR_DIV", .dtypes = BinaryOp::Dtypes::kQuotient, .exact = [](double a, double b) { return std::floor(a / b); }, .jumps = true, .ulps = 2, .number = "value", .data = Role::kNonZero, .converts = false},
    BinaryOp{.name = "ttnn.fmod", .type = "FMOD", .dtypes = BinaryOp::Dtypes::kSigned, .exact = [](double a, double b) { return std::fmod(a, b); }, .cancels = true, .jumps = true, .ulps = 4, .number = "scalar", .data = Role::kNonZero, .converts = false},
    BinaryOp{.name = "ttnn.gcd", .type = "GCD", .dtypes = BinaryOp::Dtypes::kInt32, .exact = kGreatestDivisor, .rounds = false, .takes_number = false, .converts = false},
    comparison("ttnn.ge", "GE", [](double a, double b) { return a >= b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.ge_", "GE", [](double a, double b) { return a >= b ? 1.0 : 0.0; })),
    comparison("ttnn.gt", "GT", [](double a, double b) { return a > b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.gt_", "GT", [](double a, double b) { return a > b ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.lcm", .type = "LCM", .dtypes = BinaryOp::Dtypes::kInt32, .exact = [](double a, double b) { return a == 0 || b == 0 ? 0.0 : std::fabs(a * b) / kGreatestDivisor(a, b); }, .rounds = false, .takes_number = false, .converts = false},
    BinaryOp{.name = "ttnn.ldexp", .type = "LDEXP", .dtypes = BinaryOp::Dtypes::kPower, .exact = [](double a, double b) { return a * std::exp2(b); }, .ulps = 4},
    in_place(BinaryOp{.name = "ttnn.ldexp_", .type = "LDEXP", .dtypes = BinaryOp::Dtypes::kPower, .exact = [](double a, double b) { return a * std::exp2(b); }, .ulps = 4}),
    comparison("ttnn.le", "LE", [](double a, double b) { return a <= b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.le_", "LE", [](double a, double b) { return a <= b ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.logaddexp", .type = "LOGADDEXP", .dtypes = BinaryOp::Dtypes::kPower, .exact = kLogAddExp, .cancels = true, .gives_up = kLogAddExpEnds, .ulps = 4, .floor = 1},
    BinaryOp{.name = "ttnn.logaddexp2", .type = "LOGADDEXP2", .dtypes = BinaryOp::Dtypes::kPower, .exact = kLogAddExp2, .cancels = true, .gives_up = kLogAddExp2Ends, .ulps = 4, .floor = 1},
    in_place(BinaryOp{.name = "ttnn.logaddexp2_", .type = "LOGADDEXP2", .dtypes = BinaryOp::Dtypes::kPower, .exact = kLogAddExp2, .cancels = true, .gives_up = kLogAddExp2Ends, .ulps = 4, .floor = 1}),
    in_place(BinaryOp{.name = "ttnn.logaddexp_", .type = "LOGADDEXP", .dtypes = BinaryOp::Dtypes::kPower, .exact = kLogAddExp, .cancels = true, .gives_up = kLogAddExpEnds, .ulps = 4, .floor = 1}),
    logical("ttnn.logical_and", "LOGICAL_AND", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }),
    in_place(logical("ttnn.logical_and_", "LOGICAL_AND", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.logical_left_shift", .type = "LEFT_SHIFT", .dtypes = BinaryOp::Dtypes::kInteger, .exact = kShiftedLeft, .rounds = false, .number = "input_b", .converts = false},
    logical("ttnn.logical_or", "LOGICAL_OR", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }),
    in_place(logical("ttnn.logical_or_", "LOGICAL_OR", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.logical_right_shift", .type = "LOGICAL_RIGHT_SHIFT", .dtypes = BinaryOp::Dtypes::kWide, .exact = [](double a, double b) { return kShiftedRight(a < 0 ? a + 0x1p32 : a, b); }, .rounds = false, .converts = false},
    logical("ttnn.logical_xor", "LOGICAL_XOR", [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }),
    comparison("ttnn.lt", "LT", [](double a, double b) { return a < b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.lt_", "LT", [](double a, double b) { return a < b ? 1.0 : 0.0; })),
    extreme("ttnn.maximum", "MAXIMUM", [](double a, double b) { return std::max(a, b); }),
    extreme("ttnn.minimum", "MINIMUM", [](double a, double b) { return std::min(a, b); }),
    BinaryOp{.name = "ttnn.multiply", .type = "MUL", .dtypes = BinaryOp::Dtypes::kProduct, .exact = [](double a, double b) { return a * b; }, .on_whole = OnWhole::kKept, .alias = "ttnn.mul"},
    comparison("ttnn.ne", "NE", [](double a, double b) { return a != b ? 1.0 : 0.0; }),
    in_place(comparison("ttnn.ne_", "NE", [](double a, double b) { return a != b ? 1.0 : 0.0; })),
    BinaryOp{.name = "ttnn.remainder", .type = "REMAINDER", .dtypes = BinaryOp::Dtypes::kSame, .exact = kRemainder, .cancels = true, .jumps = true, .ulps = 4, .data = Role::kNonZero, .converts = false},
    in_place(BinaryOp{.name = "ttnn.multiply_", .type = "MUL", .dtypes = BinaryOp::Dtypes::kProduct, .exact = [](double a, double b) { return a * b; }, .on_whole = OnWhole::kKept}),
    BinaryOp{.name = "ttnn.rsub", .type = "RSUB", .exact = [](double a, double b) { return b - a; }, .cancels = true, .number = "input_b", .on_whole = OnWhole::kKept},
    in_place(BinaryOp{.name = "ttnn.rsub_", .type = "RSUB", .exact = [](double a, double b) { return b - a; }, .cancels = true, .on_whole = OnWhole::kKept}),
    BinaryOp{.name = "ttnn.squared_difference", .type = "SQUARED_DIFFERENCE", .exact = [](double a, double b) { return (a - b) * (a - b); }, .cancels = true, .ulps = 4},
    in_place(BinaryOp{.name = "ttnn.squared_difference_", .type = "SQUARED_DIFFERENCE", .exact = [](double a, double b) { return (a - b) * (a - b); }, .cancels = true, .ulps = 4}),
    BinaryOp{.name = "ttnn.subtract", .type = "SUB", .exact = kDifference, .cancels = true, .on_whole = OnWhole::kKept, .alias = "ttnn.sub"},
    BinaryOp{.name = "ttnn.subtract_", .type = "SUB", .exact = kDifference, .in_place = true, .cancels = true, .on_whole = OnWhole::kKept},
    BinaryOp{.name = "ttnn.xlogy", .type = "XLOGY", .dtypes = BinaryOp::Dtypes::kPower, .exact = [](double a, double b) { return a == 0 && b >= 0 ? 0.0 : a * std::log(b); }, .ulps = 4, .data = Role::kPositive},
};
// clang-format on

}  // namespace

std::span<const OpSpec> binary_ops() {
  static const auto list = []<std::size_t... Row>(std::index_sequence<Row...>) {
    return std::array{binary_spec<kRows[Row]>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright

// Functions of two tensors, or of a tensor and a number, a row each: arithmetic and comparisons. Those that need more
// than a row (div, pow, multiply_) have files of their own.
#include <algorithm>
#include <array>
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
constexpr BinaryOp extreme(std::string_view name, std::string_view type, double (*exact)(double, double)) {
  return {.name = name,
          .type = type,
          .dtypes = BinaryOp::Dtypes::kSame,
          .exact = exact,
          .rounds = false,
          .number = "input_b",
          .on_whole = OnWhole::kKept};
}

// clang-format off
constexpr std::array kRows{
    BinaryOp{.name = "ttnn.add", .type = "ADD", .exact = kSum, .cancels = true, .on_whole = OnWhole::kKept},
    BinaryOp{.name = "ttnn.add_", .type = "ADD", .exact = kSum, .in_place = true, .cancels = true, .on_whole = OnWhole::kKept},
    comparison("ttnn.eq", "EQ", [](double a, double b) { return a == b ? 1.0 : 0.0; }),
    comparison("ttnn.ge", "GE", [](double a, double b) { return a >= b ? 1.0 : 0.0; }),
    comparison("ttnn.gt", "GT", [](double a, double b) { return a > b ? 1.0 : 0.0; }),
    comparison("ttnn.le", "LE", [](double a, double b) { return a <= b ? 1.0 : 0.0; }),
    comparison("ttnn.lt", "LT", [](double a, double b) { return a < b ? 1.0 : 0.0; }),
    extreme("ttnn.maximum", "MAXIMUM", [](double a, double b) { return std::max(a, b); }),
    extreme("ttnn.minimum", "MINIMUM", [](double a, double b) { return std::min(a, b); }),
    BinaryOp{.name = "ttnn.multiply", .type = "MUL", .dtypes = BinaryOp::Dtypes::kProduct, .exact = [](double a, double b) { return a * b; }, .on_whole = OnWhole::kKept, .alias = "ttnn.mul"},
    comparison("ttnn.ne", "NE", [](double a, double b) { return a != b ? 1.0 : 0.0; }),
    BinaryOp{.name = "ttnn.subtract", .type = "SUB", .exact = kDifference, .cancels = true, .on_whole = OnWhole::kKept, .alias = "ttnn.sub"},
    BinaryOp{.name = "ttnn.subtract_", .type = "SUB", .exact = kDifference, .in_place = true, .cancels = true, .on_whole = OnWhole::kKept},
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

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
    UnaryOp{.name = "ttnn.cos", .type = "COS", .floor = 0.0625},
    UnaryOp{.name = "ttnn.erf", .type = "ERF", .fast_flag = true, .floor = 0.0625},
    UnaryOp{.name = "ttnn.exp", .type = "EXP", .fast_flag = true},
    UnaryOp{.name = "ttnn.gelu", .type = "GELU", .fast_flag = true, .floor = 0.0625, .keyword = "variant"},
    UnaryOp{.name = "ttnn.log", .type = "LOG", .fast_flag = true, .floor = 0.0625, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.neg", .type = "NEG", .integers = Integers::kInt32, .exact = true, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.reciprocal", .type = "RECIP", .data = Role::kNonZero},
    UnaryOp{.name = "ttnn.relu", .type = "RELU", .integers = Integers::kAll, .exact = true, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.rsqrt", .type = "RSQRT", .fast_flag = true, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.sigmoid_accurate", .type = "SIGMOID", .fast_flag = true},
    UnaryOp{.name = "ttnn.silu", .type = "SILU", .floor = 0.0625, .alias = "ttnn.swish"},
    UnaryOp{.name = "ttnn.sin", .type = "SIN", .floor = 0.0625},
    UnaryOp{.name = "ttnn.sqrt", .type = "SQRT", .fast_flag = true, .data = Role::kPositive},
    UnaryOp{.name = "ttnn.square", .type = "SQUARE", .integers = Integers::kNotUint8, .ulps = 1, .on_whole = OnWhole::kKept},
    UnaryOp{.name = "ttnn.tanh", .type = "TANH", .fast_flag = true},
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
             .on_whole = kOp.on_whole};
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

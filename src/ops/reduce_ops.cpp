// Reductions over dimensions, a row each.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ops/families.h"
#include "ops/shared/reduce_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

constexpr std::array kRows{
    Reduction{.name = "ttnn.max",
              .start = -INFINITY,
              .step = [](double held, double value) { return std::max(held, value); },
              .selects = true,
              .on_whole = OnWhole::kSelects},
    Reduction{.name = "ttnn.mean", .averages = true},
    Reduction{.name = "ttnn.min",
              .start = INFINITY,
              .step = [](double held, double value) { return std::min(held, value); },
              .selects = true,
              .on_whole = OnWhole::kSelects},
    Reduction{.name = "ttnn.prod",
              .start = 1,
              .step = [](double held, double value) { return held * value; },
              .multiplies = true,
              .budget =
                  [](std::int64_t terms) {
                    // Each step cuts to bfloat16.
                    return ErrorBudget{.ulps = 4,
                                       .relative = -std::expm1(static_cast<double>(terms) * std::log1p(-0x1p-8)),
                                       .why = "a product, value by value in bfloat16"};
                  }},
    Reduction{.name = "ttnn.std", .spread = Reduction::Spread::kDeviation},
    Reduction{.name = "ttnn.sum", .on_whole = OnWhole::kSums},
    Reduction{.name = "ttnn.var", .spread = Reduction::Spread::kVariance},
};

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  OpSpec out{.name = kRows[At].name,
             .params = reduce_params(kRows[At]),
             .infer = [](const BoundCall& call, const Board& board) { return infer_reduce(call, board, kRows[At]); },
             .reference = [](const ReferenceJob& job) { return reduce_reference(job, kRows[At]); },
             .budget = [](const BoundCall& call, std::span<const OutputSpec>,
                          std::size_t) { return reduce_budget(call, kRows[At]); },
             .on_whole = kRows[At].on_whole};
  if (out.on_whole == OnWhole::kSums)
    out.sum = [](const BoundCall& call) { return summed(call, "input_tensor", "dim"); };
  return out;
}

}  // namespace

std::span<const OpSpec> reduce_ops() {
  static const auto list = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array{spec<At>()...};
  }(std::make_index_sequence<kRows.size()>());
  return list;
}

}  // namespace opwright

// Reductions over dimensions, a row each.
#include <array>
#include <utility>

#include "ops/families.h"
#include "ops/shared/reduce_rules.h"
#include "ops/shared/sums.h"

namespace opwright {
namespace {

struct Row {
  std::string_view name;
  ReduceKind kind = ReduceKind::kSum;
  OnWhole on_whole = OnWhole::kAsBudgeted;
};
constexpr std::array kRows{
    Row{.name = "ttnn.max", .kind = ReduceKind::kMax, .on_whole = OnWhole::kSelects},
    Row{.name = "ttnn.mean", .kind = ReduceKind::kMean},
    Row{.name = "ttnn.min", .kind = ReduceKind::kMin, .on_whole = OnWhole::kSelects},
    Row{.name = "ttnn.sum", .kind = ReduceKind::kSum, .on_whole = OnWhole::kSums},
};

// OpSpec holds plain functions, so the row is known to the compiler.
template <std::size_t At>
OpSpec spec() {
  constexpr ReduceKind kKind = kRows[At].kind;
  OpSpec out{.name = kRows[At].name,
             .params = reduce_params(kKind),
             .infer = [](const BoundCall& call, const Board& board) { return infer_reduce(call, board, kKind); },
             .reference = [](const ReferenceJob& job) { return reduce_reference(job, kKind); },
             .budget = [](const BoundCall& call, std::span<const OutputSpec>,
                          std::size_t) { return reduce_budget(call, kKind); },
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

#include "exec/vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/run_external.h"

namespace opwright {
namespace {

// What the golden function gave stands for our exact values, on the rows that are judged.
void put_in_place(const CaseResult& golden, std::size_t output, Exact& exact) {
  if (output >= golden.actual.size()) return;
  const HostTensor& tensor = golden.actual[output];
  const std::vector<std::int64_t>& picked = golden.judged_rows[output];
  const std::int64_t length = std::max<std::int64_t>(1, row_length(tensor.spec.shape));
  const std::int64_t rows = static_cast<std::int64_t>(exact.value.size()) / length;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = picked.empty() ? r : picked[static_cast<std::size_t>(r)];
    for (std::int64_t i = 0; i < length; ++i)
      exact.value[static_cast<std::size_t>(r * length + i)] = tensor.at(row * length + i);
  }
  // What a fused function was given is ours, and not the golden function's.
  exact.before.clear();
  exact.after = nullptr;
  exact.slack = nullptr;
}

}  // namespace

Vote vote_on_reference(const OpConfig& config, Device& device, Device& golden, RunOptions options) {
  options.keep_outputs = true;
  const CaseResult other = run_golden(config, golden, options);
  Vote vote{.golden = other.outcome};
  if (other.outcome != Outcome::kFailed || other.actual.empty()) return vote;
  // The same judge with the same bounds, and another reference.
  options.keep_outputs = false;
  options.tamper = [&, output = std::size_t{0}](const BoundCall&, Exact& exact) mutable {
    put_in_place(other, output++, exact);
  };
  const CaseResult by_golden = run_case(config, device, options);
  vote.reference_wrong = by_golden.outcome == Outcome::kPassed || by_golden.outcome == Outcome::kUnproven;
  if (vote.reference_wrong)
    vote.evidence = fmt::format(
        "the library's golden function fails against our reference too ({}), and the device passes against the golden "
        "function",
        other.reason);
  return vote;
}

}  // namespace opwright

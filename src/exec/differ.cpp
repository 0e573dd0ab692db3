#include "exec/differ.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "compare/pcc.h"
#include "exec/output_fields.h"

namespace opwright {
namespace {

// Whether the device made the call, whatever came of it.
bool ran(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
    case Outcome::kMistrusted:
    case Outcome::kVacuous:
    case Outcome::kUnproven:
    case Outcome::kFailed:
    case Outcome::kAccepted:
    case Outcome::kReferenceWrong:
      return true;
    default:
      return false;
  }
}

std::string outcome_text(const CaseResult& result) {
  const std::string& reason = result.reason;
  if (reason.empty()) return std::string(name_of(result.outcome));
  constexpr std::size_t kMost = 200;
  const std::string line = reason.substr(0, std::min(reason.find('\n'), kMost));
  return fmt::format("{} ({}{})", name_of(result.outcome), line, line.size() < reason.size() ? "…" : "");
}

bool same_outcome(const CaseResult& a, const CaseResult& b) {
  if (ran(a.outcome) != ran(b.outcome)) return false;
  if (!ran(a.outcome)) return a.outcome == b.outcome;
  // A device without numerics cannot contradict a verdict.
  if (a.verdicts.empty() || b.verdicts.empty()) return true;
  return (a.outcome == Outcome::kFailed) == (b.outcome == Outcome::kFailed);
}

// Rows that both computed; nothing: all.
std::optional<std::vector<std::int64_t>> common_rows(const std::vector<std::int64_t>& a,
                                                     const std::vector<std::int64_t>& b) {
  if (a.empty() && b.empty()) return std::nullopt;
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<std::int64_t> out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

std::vector<float> values_of(const HostTensor& tensor, const std::optional<std::vector<std::int64_t>>& rows) {
  std::vector<float> out;
  const std::int64_t length = std::max<std::int64_t>(1, row_length(tensor.spec.shape));
  const auto add_row = [&](std::int64_t row) {
    for (std::int64_t i = 0; i < length; ++i) out.push_back(static_cast<float>(tensor.at(row * length + i)));
  };
  if (rows)
    for (const std::int64_t row : *rows) add_row(row);
  else
    for (std::int64_t row = 0; row < tensor.size() / length; ++row) add_row(row);
  return out;
}

std::string value_difference(const CaseResult& first, const CaseResult& second, std::size_t output) {
  const HostTensor& a = first.actual[output];
  const HostTensor& b = second.actual[output];
  if (a.spec.shape != b.spec.shape) return "";  // said already
  const auto own_form = [&](const CaseResult& of) {
    return output < of.outputs.size() && has_own_form(of.outputs[output]);
  };
  if (own_form(first) || own_form(second)) return "";
  const auto rows_of = [&](const CaseResult& of) {
    return output < of.judged_rows.size() ? of.judged_rows[output] : std::vector<std::int64_t>();
  };
  const auto rows = common_rows(rows_of(first), rows_of(second));
  const std::vector<float> x = values_of(a, rows), y = values_of(b, rows);
  const auto threshold_of = [&](const CaseResult& of) {
    return output < of.verdicts.size() && of.verdicts[output].pcc_threshold > 0 ? of.verdicts[output].pcc_threshold
                                                                                : PccRule{}.threshold;
  };
  const double threshold = std::min(threshold_of(first), threshold_of(second));
  const auto check = comp_pcc(float32_numbers(x), float32_numbers(y), {.threshold = threshold});
  if (check && check->passed) return "";
  std::size_t differ = 0;
  for (std::size_t i = 0; i < x.size(); ++i) differ += x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]) ? 0U : 1U;
  return fmt::format("output {} values: {} of {} elements differ, correlation {:.6f}, {} asked", output, differ,
                     x.size(), check ? check->pcc : 0.0, threshold);
}

}  // namespace

std::vector<std::string> disagreements(const CaseResult& first, const CaseResult& second) {
  std::vector<std::string> out;
  // Who has no answer contradicts nobody; the outcomes tell it.
  if (standing_of(first.outcome) == Standing::kNoAnswer || standing_of(second.outcome) == Standing::kNoAnswer)
    return out;
  if (!same_outcome(first, second))
    out.push_back(fmt::format("outcome: {}, {}", outcome_text(first), outcome_text(second)));
  if (!ran(first.outcome) || !ran(second.outcome)) return out;
  if (!first.outputs.empty() && !second.outputs.empty())
    for (std::string& difference : output_differences(first.outputs, second.outputs, "first", "second"))
      out.push_back(std::move(difference));
  for (std::size_t o = 0; o < std::min(first.actual.size(), second.actual.size()); ++o)
    if (std::string difference = value_difference(first, second, o); !difference.empty())
      out.push_back(std::move(difference));
  return out;
}

}  // namespace opwright

#include "report/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/message_pattern.h"
#include "base/visible_text.h"
#include "base/words.h"

namespace opwright::report {
namespace {

// A result with a verdict of the reference, whatever it says.
constexpr std::array kJudged{Outcome::kPassed, Outcome::kFailed, Outcome::kMistrusted, Outcome::kUnproven,
                             Outcome::kVacuous};
constexpr std::size_t kReasonWidth = 160;

std::string cell(std::string_view text) {
  std::string out = visible(text);
  std::replace(out.begin(), out.end(), '|', '/');
  return out;
}

}  // namespace

void Coverage::add(const CaseRecord& record) {
  for (Row* row : {&rows_[record.op], &total_}) {
    ++row->cases;
    ++row->outcomes[record.outcome];
  }
  if (record.outcome != Outcome::kPassed && record.outcome != Outcome::kAccepted)
    ++rows_[record.op].reasons[fmt::format("{}: {}", name_of(record.outcome), message_pattern(record.reason))];
}

std::string Coverage::markdown() const {
  std::string out = "| operation | configurations | verdict |", line = "| --- | ---: | ---: |";
  std::vector<Outcome> shown;
  for (const Outcome outcome : all_outcomes()) {
    if (!total_.outcomes.contains(outcome)) continue;
    shown.push_back(outcome);
    out += fmt::format(" {} |", name_of(outcome));
    line += " ---: |";
  }
  out += "\n" + line + "\n";
  const auto add = [&](std::string_view name, const Row& row) {
    const auto count = [&](Outcome outcome) {
      const auto found = row.outcomes.find(outcome);
      return found == row.outcomes.end() ? 0 : found->second;
    };
    std::int64_t judged = 0;
    for (const Outcome outcome : kJudged) judged += count(outcome);
    out += fmt::format("| {} | {} | {} |", cell(name), row.cases, judged);
    for (const Outcome outcome : shown) out += fmt::format(" {} |", count(outcome));
    out += '\n';
  };
  for (const auto& [name, row] : rows_) add(name, row);
  add("**all**", total_);
  out += "\n| operation | configurations | not passed, because |\n| --- | ---: | --- |\n";
  for (const auto& [name, row] : rows_)
    for (const auto& [reason, count] : by_count(row.reasons)) {
      out += fmt::format("| {} | {} | {} |\n", cell(name), count, cell(cut_text(reason, kReasonWidth)));
    }
  return out;
}

}  // namespace opwright::report

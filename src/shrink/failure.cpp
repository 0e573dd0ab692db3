#include "shrink/failure.h"

#include <fmt/format.h>

#include "base/message_pattern.h"

namespace opwright::shrink {
namespace {

bool refuses(Outcome outcome) {
  return outcome == Outcome::kRefused || outcome == Outcome::kOutOfMemory || outcome == Outcome::kUnsupported ||
         outcome == Outcome::kLost;
}

// Which figure shows that numbers are wrong changes with their count: a PCC means nothing for one element.
std::string kind_of_wrong(const std::string& reason) {
  if (reason.find("NaN or infinity") != std::string::npos) return "values that are not finite";
  for (const std::string_view spec : {"shape ", "dtype ", "outputs promised", "values for shape"})
    if (reason.find(spec) != std::string::npos) return message_pattern(reason);
  return "wrong values";
}

std::string kind_of_reason(const CaseRecord& record) {
  switch (record.outcome) {
    case Outcome::kFailed:
    case Outcome::kReferenceWrong:
      return kind_of_wrong(record.reason);
    case Outcome::kCrashed:
    case Outcome::kTimedOut:
    case Outcome::kHostMemory:  // what its process said last differs from time to time
      return message_pattern(record.reason.substr(0, record.reason.find_first_of(":\n")));
    default:
      return message_pattern(record.reason.substr(0, record.reason.find('\n')));
  }
}

}  // namespace

bool FailureKind::is_refusal() const {
  return refuses(outcome) || (!against.empty() && reason.find("refused") != std::string::npos);
}

std::string to_text(const FailureKind& kind) {
  std::string text(name_of(kind.outcome));
  if (!kind.against.empty()) text += fmt::format(", {} on the other device", kind.against);
  return kind.reason.empty() ? text : text + ": " + kind.reason;
}

std::optional<FailureKind> failure_of(const CaseRecord& record) {
  const bool disagree = !record.disagreement.empty();
  // What two devices refuse alike is a rule.
  const bool agreed = !disagree && !record.against.empty() && refuses(record.outcome);
  if (agreed || (!disagree && !is_failure(record.outcome))) return std::nullopt;
  FailureKind kind{record.op, record.outcome, kind_of_reason(record), ""};
  if (disagree) {
    kind.against = record.against;
    kind.reason = message_pattern(record.disagreement);
  }
  return kind;
}

Answer compare(const CaseRecord& record, const FailureKind& wanted) {
  const auto kind = failure_of(record);
  // Nobody looked at a number: an empty output shows nothing.
  const bool is_blank = record.outcome == Outcome::kMistrusted && record.judged == 0;
  if (!kind)
    return record.outcome == Outcome::kNotRun || refuses(record.outcome) || is_blank ? Answer::kOther : Answer::kPasses;
  return *kind == wanted ? Answer::kFails : Answer::kOther;
}

}  // namespace opwright::shrink

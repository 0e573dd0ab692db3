// What makes two failures the same: operation, outcome, and the kind of reason.
#pragma once

#include <optional>
#include <string>

#include "model/case_record.h"
#include "shrink/trial.h"

namespace opwright::shrink {

struct FailureKind {
  std::string op;
  Outcome outcome = Outcome::kNotRun;
  std::string reason;   // without numbers
  std::string against;  // the outcome of a second device, where the two disagree; "" no second device, or they agree
  friend auto operator<=>(const FailureKind&, const FailureKind&) = default;

  // The rules cannot be asked about a failure that is a refusal.
  bool is_refusal() const;
};
std::string to_text(const FailureKind& kind);  // "failed: wrong values"

// Nothing where nothing is wrong: passed, accepted, mistrusted, and both devices agree.
std::optional<FailureKind> failure_of(const CaseRecord& record);
Answer compare(const CaseRecord& record, const FailureKind& wanted);

}  // namespace opwright::shrink

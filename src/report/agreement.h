// Whether the two devices of a differential run can agree or disagree about a case at all.
#pragma once

#include <string_view>

#include "model/case_record.h"

namespace opwright::report {

enum class Agreement : std::uint8_t {
  kOneDevice,    // there was no second one
  kNotCompared,  // one of them has no answer: it does not support the call, or the trace lost a part of it
  kAgree,
  kDisagree,
};

inline Agreement agreement_of(const CaseRecord& record) {
  if (record.against.empty()) return Agreement::kOneDevice;
  const auto there = parse_outcome(record.against);
  if (standing_of(record.outcome) == Standing::kNoAnswer || (there && standing_of(*there) == Standing::kNoAnswer))
    return Agreement::kNotCompared;
  return record.disagreement.empty() ? Agreement::kAgree : Agreement::kDisagree;
}

// "", "not compared", "agree", "disagree"
inline std::string_view name_of(Agreement agreement) {
  switch (agreement) {
    case Agreement::kOneDevice:
      return "";
    case Agreement::kNotCompared:
      return "not compared";
    case Agreement::kAgree:
      return "agree";
    case Agreement::kDisagree:
      return "disagree";
  }
  return "";
}

}  // namespace opwright::report

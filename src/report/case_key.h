// Which results of two runs are of one case: those of one vector; where a run has no ids, of one key and suite; last of
// one case line.
#pragma once

#include "base/hash.h"
#include "model/case_record.h"

namespace opwright::report {

inline Hash128 case_key(const CaseRecord& record) {
  const std::string text = !record.vector.empty() ? "v" + record.vector
                           : !record.key.empty()  ? "k" + record.key + "/" + record.suite
                                                  : "l" + record.line;
  return xxh128(text);
}

}  // namespace opwright::report

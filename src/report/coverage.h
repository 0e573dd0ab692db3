// How much of what models called can be run and judged, as docs/coverage.md shows it: a row an operation, and the
// reasons of what did not pass below.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/case_record.h"

namespace opwright::report {

class Coverage {
 public:
  void add(const CaseRecord& record);
  std::string markdown() const;

 private:
  struct Row {
    std::int64_t cases = 0;
    std::map<Outcome, std::int64_t> outcomes;
    std::map<std::string, std::int64_t> reasons;  // of all that did not pass
  };
  std::map<std::string, Row> rows_;
  Row total_;
};

}  // namespace opwright::report

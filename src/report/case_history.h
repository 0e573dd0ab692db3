// How the cases of one run ended in the runs before it, for the page. A case is found by case_key.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "model/case_record.h"
#include "report/case_key.h"

namespace opwright::report {

class CaseHistory {
 public:
  std::int64_t runs_left_out = 0;  // older ones that nobody read

  // Runs from the oldest to the newest; results go to the run that was begun last.
  void begin(const RunRecord& run);
  void add(const CaseRecord& record);

  // JSON: [{"uid": …, "started": …, "device": …, "commit": …}, …]
  std::string runs_json() const;
  // JSON: [[run, outcome, pcc, device seconds], …], the oldest first; "[]" for a case that is new.
  std::string of(const CaseRecord& record) const;

 private:
  struct Past {
    std::int32_t run = 0;
    Outcome outcome = Outcome::kNotRun;
    std::optional<double> pcc;
    double seconds = 0;
  };
  std::vector<std::string> runs_;
  std::unordered_map<Hash128, std::vector<Past>, Hash128Hasher> past_;
};

}  // namespace opwright::report

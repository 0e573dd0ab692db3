// How long cases took in earlier runs of the same store, on the same device and with the same checks.
#pragma once

#include <string>
#include <unordered_map>

#include "base/result.h"
#include "jobs/run_choice.h"
#include "model/case_record.h"

namespace opwright::jobs {

class EarlierTimes {
 public:
  // Of the newest runs that cost what this one will. A store that is not there yet has none.
  static Result<EarlierTimes> read(const RunChoice& choice, const VectorPlace& place);

  struct Took {
    double seconds = 0;
    bool answered = false;  // it was computed, not refused
  };
  const Took* of(const std::string& key, const std::string& vector) const;
  bool empty() const { return took_.empty(); }

 private:
  std::unordered_map<std::string, Took> took_;  // by the key of the configuration, else by the id of the vector
};

}  // namespace opwright::jobs

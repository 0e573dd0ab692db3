// Test vectors of a suite, handed over one after another and written as files where a folder is named.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobs/question.h"
#include "vectors/suites.h"
#include "vectors/sweep_file.h"

namespace opwright::jobs {

struct VectorsRequest {
  Question question;  // the store is not opened where the suite has files of its own
  vectors::SuiteOptions suite;
  std::string folder;  // "" none
  std::string tag;     // of what is written; "" the user's name, as the existing generator has it
  std::function<void(const vectors::TestVector&)> each;  // may be empty
};

struct VectorsReport {
  vectors::SuiteReport made;
  std::optional<vectors::SweepReport> written;  // where a folder was named
};

Result<VectorsReport> make_vectors(const VectorsRequest& request);

}  // namespace opwright::jobs

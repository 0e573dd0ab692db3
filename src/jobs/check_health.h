// What is installed, in which version, and whether the store is sound.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::jobs {

struct HealthOptions {
  std::string store;
  bool deep = false;  // all that can be checked, not only rows and their checksums
  int wait_ms = 60'000;
};

struct HealthRow {
  std::string what, state, detail;  // state: ok, none, bad
};

struct Health {
  bool sound = true;  // the store; also where there is none
  std::vector<HealthRow> rows;
};

Health check_health(const HealthOptions& options);

}  // namespace opwright::jobs

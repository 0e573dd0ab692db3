// Two traces or stores, compared configuration by configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/config_diff.h"
#include "jobs/config_set.h"

namespace opwright::jobs {

struct DiffOptions {
  std::string a, b;      // traces of any format, or stores
  std::string where;     // selector; "" everything
  bool all_ops = false;  // also operations that the filter leaves out
  int wait_ms = 60'000;
};

struct ConfigsDiff {
  ConfigSet a, b;
  std::vector<OperationDiff> operations;  // of either, by name; they point into the sets
  std::int64_t same = 0, changed = 0, removed = 0, added = 0;

  ConfigsDiff() = default;
  ConfigsDiff(ConfigsDiff&&) = default;
  ConfigsDiff& operator=(ConfigsDiff&&) = default;
  ConfigsDiff(const ConfigsDiff&) = delete;
  ConfigsDiff& operator=(const ConfigsDiff&) = delete;

  bool equal() const { return changed == 0 && removed == 0 && added == 0; }
};

Result<ConfigsDiff> diff_configs(const DiffOptions& options);

}  // namespace opwright::jobs

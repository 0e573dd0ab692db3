// The distinct configurations of a trace or a store, held in memory to be compared.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/op_config.h"
#include "normalize/op_filter.h"
#include "select/selector.h"

namespace opwright::jobs {

struct ConfigSet {
  std::map<std::string, std::vector<OpConfig>> by_op;  // sorted by key
  std::int64_t configurations = 0;
  std::int64_t filtered = 0;  // calls left out by the operation lists
  std::int64_t losses = 0;
  std::string loss_example;
};

Result<ConfigSet> load_configs(const std::string& path, const normalize::OpFilter& filter,
                               const select::Selector& selector, int wait_ms);

}  // namespace opwright::jobs

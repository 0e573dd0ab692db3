// Named rules that say which vectors cannot be a test. A vector that breaks one is kept and exported with its reason;
// nobody runs it unless asked.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/op_config.h"

namespace opwright::vectors {

struct Candidate {
  const OpConfig& config;
  bool only_raised = false;     // every recorded call of it raised
  std::string_view error = {};  // one example of what was raised
};

struct ValidityRule {
  std::string_view name;
  std::string_view summary;
  std::string (*broken)(const Candidate& candidate);  // what is wrong; "" nothing
};
std::span<const ValidityRule> validity_rules();

// "rule: reason" of the first rule that the candidate breaks; "" valid.
std::string why_invalid(const Candidate& candidate);

}  // namespace opwright::vectors

// From a failing case to the smallest that fails in the same way: delta debugging over steps that make it plainer, then
// each number brought down by halves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shrink/rules.h"
#include "shrink/steps.h"
#include "shrink/trial.h"

namespace opwright::shrink {

class Search {
 public:
  Search(Subject subject, const Rules& rules, Trials& trials);

  void run();
  const Subject& smallest() const { return now_; }
  // For whoever found something smaller.
  void take(Subject subject) { now_ = std::move(subject); }

  // Where a number of the case, brought down as far as it fails, begins to pass.
  struct Edge {
    std::optional<std::int64_t> passes;  // the largest below that was seen to pass; nothing: none was
    std::int64_t fails = 0;              // what the case has now
    Subject passing;
    std::vector<std::string> facts;  // that are the same number, and cannot be others
  };
  Edge lower_dimension(const std::string& fact);
  Edge lower_value(const std::string& fact);

 private:
  bool try_now(const Subject& candidate, std::string_view kind);
  void reduce(std::span<const Step> steps);
  void reduce_ranks();
  void reduce_values();
  // Zeros, ones, whole numbers; else one number among zeros.
  void reduce_data();

  const Rules& rules_;
  Trials& trials_;
  Subject now_;
};

}  // namespace opwright::shrink

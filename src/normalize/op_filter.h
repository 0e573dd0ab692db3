// Which operations are taken out of a trace: what the tables of their dialect say, or the user.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::normalize {

struct FilterOptions {
  bool all_ops = false;              // keep everything
  bool like_existing = false;        // exactly what the existing tooling keeps
  std::string ops_list_path;         // a file of names instead of our list: one a line, '#' comments
  std::vector<std::string> exclude;  // more names to leave out; `ttnn.x`, `ttnn::x`, or `x` of any dialect
};

class OpFilter {
 public:
  enum class Verdict { kKeep, kExcluded, kNotListed };

  static Result<OpFilter> make(const FilterOptions& options);
  Verdict judge(std::string_view operation) const;  // as operation_name() has it

 private:
  bool all_ops_ = false;
  bool like_existing_ = false;
  bool own_list_ = false;
  std::set<std::string, std::less<>> listed_;  // by a list of the user's own
  std::set<std::string, std::less<>> excluded_;
};

}  // namespace opwright::normalize

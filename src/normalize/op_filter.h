// Which operations are taken out of a trace. Lists are data files (data/operations.tsv, data/exclusions.txt), embedded.
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
  std::vector<std::string> exclude;  // more names to leave out; `ttnn.x`, `ttnn::x` or `x`
};

class OpFilter {
 public:
  enum class Verdict { kKeep, kExcluded, kNotListed };

  static Result<OpFilter> make(const FilterOptions& options);
  Verdict judge(std::string_view dotted_op) const;

 private:
  bool all_ops_ = false;
  std::set<std::string, std::less<>> listed_;
  std::set<std::string, std::less<>> excluded_;
};

bool is_known_operation(std::string_view dotted_op);
// Every operation name we know (library and older traces), sorted; for suggestions and `doctor`.
const std::vector<std::string_view>& known_operations();

}  // namespace opwright::normalize

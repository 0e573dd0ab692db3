// Long values that an emitted test writes once, under a name of their own: configurations of kernels, programs, shards.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gentest/python_expression.h"

namespace opwright::fuse {

class NamedConstants {
 public:
  // The same expression, with the name of a constant in the place of each long object of the library.
  gentest::Python named(gentest::Python expression);
  // In the order in which they were met.
  const std::vector<std::pair<std::string, gentest::Python>>& list() const { return list_; }

 private:
  std::vector<std::pair<std::string, gentest::Python>> list_;
  std::map<std::string, std::string> names_;  // by text
  std::map<std::string, int> times_;          // that a name was wanted
};

}  // namespace opwright::fuse

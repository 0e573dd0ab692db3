// One case as programs to copy: the test file that gentest would write for it, and a script that needs torch and ttnn
// alone.
#pragma once

#include <string>

#include "gentest/recorded.h"

namespace opwright::gentest {

struct Snippets {
  std::string pytest, ttnn;  // "" where it cannot be made
  std::string refused;       // why one of them is not there
};
Snippets snippets_of(const Recorded& recorded);

}  // namespace opwright::gentest

// main() of test programs that open devices which are programs: such a program is started by a keeper, which is the
// same program again. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "device/external/keeper.h"

namespace opwright {

inline int keep_or_test(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kKeeperVerb) return keep_program();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace opwright

// Recorded configurations as case lines, with a GoogleTest program that runs them: for C++ projects.
#pragma once

#include <span>

#include "gentest/generated.h"
#include "gentest/recorded.h"

namespace opwright::gentest {

Generated case_files(std::span<const Recorded> recorded);

}  // namespace opwright::gentest

// Recorded configurations as pytest files: one an operation, one parametrised test a signature, one row a
// configuration.
#pragma once

#include <span>
#include <string>

#include "gentest/generated.h"
#include "gentest/recorded.h"

namespace opwright::gentest {

// `recorded` in any order; what is written does not depend on it.
Generated pytest_files(std::span<const Recorded> recorded);
// The file of one configuration alone, without marks and without the files that go with it.
std::string pytest_text(const Recorded& recorded);

}  // namespace opwright::gentest

// The Python package that belongs to this program, and how it gets into the Pythons that the user's command starts.
#pragma once

#include <string>

#include "base/result.h"
#include "launch/environment.h"

namespace opwright::launch {

// The folder that holds the package `opwright` and the folder `bootstrap`: in the build tree, in an installed wheel, or
// where $OPWRIGHT_PYTHON says.
Result<std::string> python_package_folder();

// Puts the bootstrap folder in front of the program's own PYTHONPATH: every Python below it loads our package, which
// reads from the OPWRIGHT_ variables what to do. Once, however often it is called.
Status add_bootstrap(Environment& environment);

}  // namespace opwright::launch

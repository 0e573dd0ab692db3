// `device cover`: which configurations of the store run on a device and get a verdict, and why the others do not.
#pragma once

#include "cli/command.h"

namespace opwright::cli {

Result<int> run_cover(const ParsedArgs& args, CommandEnv& env);

}  // namespace opwright::cli

// `ops --known`: the operators that can be run and judged.
#pragma once

#include "cli/command.h"

namespace opwright::cli {

Result<int> list_known_ops(CommandEnv& env);

}  // namespace opwright::cli

// `device conform`: agreement of a device with recorded ground truth.
#pragma once

#include "cli/command.h"

namespace opwright::cli {

Result<int> run_conform(const ParsedArgs& args, CommandEnv& env);

}  // namespace opwright::cli

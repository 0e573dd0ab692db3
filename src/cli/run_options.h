// What the flags of `run` say of a single case: its data, its judge, its second opinion.
#pragma once

#include <string>

#include "cli/command.h"
#include "exec/run_case.h"

namespace opwright::cli {

Result<RunOptions> run_options_of(const ParsedArgs& args);

// The flags that a repeat line needs beside device and data, so that it gives the same answer: " --golden".
std::string repeat_flags(const ParsedArgs& args);

}  // namespace opwright::cli

// What is told of vectors that were written as files, by `vectors --export` and `export --to vectors`.
#pragma once

#include "cli/command.h"
#include "cli/output.h"
#include "vectors/sweep_file.h"

namespace opwright::cli {

JsonObject export_json(const vectors::SweepReport& report, const std::string& folder);
// Lines for a person: what was written, and what the existing form has no place for.
std::string export_text(const vectors::SweepReport& report, const std::string& folder);

}  // namespace opwright::cli

// Writing vectors as files: what `vectors --export` and `export --to vectors` share.
#pragma once

#include "cli/command.h"
#include "cli/output.h"
#include "vectors/suites.h"
#include "vectors/sweep_file.h"

namespace opwright::cli {

// A writer of the vectors of these options into `folder`; `tag` "" means the user's name, as the existing generator has
// it.
vectors::SweepWriter sweep_writer(const vectors::SuiteOptions& options, const std::string& folder,
                                  const std::string& tag);

JsonObject export_json(const vectors::SweepReport& report, const std::string& folder);
// Lines for a person: what was written, and what the existing form has no place for.
std::string export_text(const vectors::SweepReport& report, const std::string& folder);

}  // namespace opwright::cli

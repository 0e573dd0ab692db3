#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) {
  return fail(ErrorCode::kUsage, "results: not in this version");
}

}  // namespace

const Command kResults{"results", "Analyse the results of a run, compare two runs, or export them.", "", "", 0, 0, {},
                       run};

}  // namespace opwright::cli

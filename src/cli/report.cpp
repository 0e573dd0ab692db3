#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) {
  return fail(ErrorCode::kUsage, "report: not in this version");
}

}  // namespace

const Command kReport{"report", "Write the results of a run as a page.", "", "", 0, 0, {}, run};

}  // namespace opwright::cli

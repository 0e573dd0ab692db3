#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) {
  return fail(ErrorCode::kUsage, "worker: not in this version");
}

}  // namespace

const Command kWorker{"worker", "Run cases that another opwright process sends (internal).", "", "", 0, 0, {}, run};

}  // namespace opwright::cli

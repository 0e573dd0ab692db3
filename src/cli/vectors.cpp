#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) {
  return fail(ErrorCode::kUsage, "vectors: not in this version");
}

}  // namespace

const Command kVectors{"vectors", "Make test vectors from configurations, and write them as files.", "", "", 0, 0, {},
                       run};

}  // namespace opwright::cli

#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs&, CommandEnv&) {
  return fail(ErrorCode::kUsage,
              "fuse needs a second word: suggest, make, check or list. See 'opwright help fuse make' and so on");
}

}  // namespace

const Command kFuse{"fuse",
                    "Fused operators: suggest sequences, make and prove their tests, check them, list them.",
                    "  opwright fuse suggest TRACE…          sequences that are worth it\n"
                    "  opwright fuse make --trace TRACE …    a test of one, proven\n"
                    "  opwright fuse check PARAMS --trace T  has the model drifted from it?\n"
                    "  opwright fuse list DIR                all tests, and how their last run went\n\n"
                    "'opwright help fuse make' says more. docs/how-to/fuse-operators.md",
                    "suggest|make|check|list",
                    0,
                    -1,
                    {},
                    run};

}  // namespace opwright::cli

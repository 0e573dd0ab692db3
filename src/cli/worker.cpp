#include "exec/worker.h"

#include <unistd.h>

#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) { return serve_worker(STDIN_FILENO, STDOUT_FILENO); }

}  // namespace

const Command kWorker{
    "worker", "Run cases that another opwright process sends (docs/formats/worker-protocol.md).", "", "", 0, 0, {},
    run};

}  // namespace opwright::cli

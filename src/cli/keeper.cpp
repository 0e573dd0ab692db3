#include "device/external/keeper.h"

#include "cli/command.h"

namespace opwright::cli {
namespace {

Result<int> run(const ParsedArgs& /*args*/, CommandEnv& /*env*/) { return keep_program(); }

}  // namespace

const Command kKeeper{
    kKeeperVerb, "Start a device program and end all that it started (docs/formats/device-protocol.md).",
    "",          "",
    0,           0,
    {},          run};

}  // namespace opwright::cli

#include <fmt/format.h>

#include <array>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "jobs/kept_trace.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{kWaitFlag};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  store::SequenceRow row;
  {
    OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
    OPWRIGHT_TRY_ASSIGN(row, jobs::find_trace(*reader, args.positionals.front()));
  }
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  OPWRIGHT_TRY_ASSIGN(const auto writer, store::open_writer(env.store, wait, identity_of_this_build()));
  OPWRIGHT_TRY_ASSIGN(const bool forgotten, writer->forget_sequence(row.sequence.uid));
  if (!forgotten)
    return fail(ErrorCode::kNotFound,
                fmt::format("trace {}: another process has removed it meanwhile", jobs::short_id(row)));
  OPWRIGHT_TRY(writer->commit());
  JsonObject object;
  object.add("trace", to_hex(row.sequence.digest))
      .add("name", row.sequence.name)
      .add("calls", row.sequence.calls)
      .add("bytes", row.packed);
  print_object(
      object,
      {{"trace", to_hex(row.sequence.digest)},
       {"name", row.sequence.name},
       {"calls", std::to_string(row.sequence.calls)},
       {"bytes", std::to_string(row.packed)}},
      fmt::format("forgotten: {} of trace {} ({}), {}; its configurations stay\n", plural(row.sequence.calls, "call"),
                  jobs::short_id(row), visible(row.sequence.name), size_text(row.packed)),
      env);
  return kExitOk;
}

}  // namespace

const Command kForget{
    "forget",
    "Remove the calls of a trace from the store; its configurations stay.",
    "TRACE is the beginning of an id, or a name that one trace alone has ('opwright traces'). The room\n"
    "is used again by later imports. Importing the trace again brings its calls back.\n\n"
    "  opwright forget 3f2a91",
    "TRACE",
    1,
    1,
    kFlags,
    run};

}  // namespace opwright::cli

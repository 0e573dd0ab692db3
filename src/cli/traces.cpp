#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "jobs/kept_trace.h"
#include "normalize/provenance_names.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{kWaitFlag};

std::string machine_of(const Sequence& sequence) {
  return sequence.machine.empty() ? "" : normalize::name_machine(sequence.machine);
}

std::string_view flow_text(DataFlow flow) {
  switch (flow) {
    case DataFlow::kNone:
      return "none";
    case DataFlow::kInferred:
      return "inferred";
    case DataFlow::kRecorded:
      return "recorded";
  }
  return "unknown";
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
  OPWRIGHT_TRY_ASSIGN(const std::vector<store::SequenceRow> rows, reader->sequences());
  const bool people = env.format == OutputFormat::kTable;
  if (rows.empty() && people) {
    env.out << "no trace is kept in its order; 'opwright import' and 'opwright trace' keep those that have one\n";
    return kExitOk;
  }
  Table table{{{"trace"},
               {"name"},
               {"command", false, false},
               {"machine"},
               {"started"},
               {"calls", true},
               {"operations", true},
               {"bytes", true},
               {"format", false, false},
               {"flow", false, false}},
              {}};
  for (const store::SequenceRow& row : rows) {
    const Sequence& sequence = row.sequence;
    const auto number = [&](std::int64_t value) {
      return Cell(people ? grouped(value) : std::to_string(value), std::to_string(value));
    };
    table.rows.push_back({people ? jobs::short_id(row) : to_hex(sequence.digest), sequence.name, sequence.command,
                          machine_of(sequence), people ? sequence.started.substr(0, 19) : sequence.started,
                          number(sequence.calls), number(sequence.operations),
                          Cell(people ? size_text(row.packed) : std::to_string(row.packed), std::to_string(row.packed)),
                          sequence.format, flow_text(sequence.flow)});
  }
  print(table, env);
  return kExitOk;
}

}  // namespace

const Command kTraces{"traces",
                      "List the traces whose calls are kept in their order, newest first.",
                      "TRACE of 'calls' and 'forget' is the beginning of an id, or a name that one trace alone has.\n"
                      "Bytes are those in the store.\n\n"
                      "  opwright traces\n"
                      "  opwright traces --format json",
                      "",
                      0,
                      0,
                      kFlags,
                      run};

}  // namespace opwright::cli

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/input.h"
#include "base/large_memory.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/exact_result.h"
#include "jobs/named_case.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--case", "LINE",
         "one case, as every failure prints it, or its name @054f8d1b; without it, requests are read from standard "
         "input"},
    Flag{"--seed", "N", "of the input data (default 1)"},
    Flag{"--data", "NAME", "distribution of plain inputs (default normal)"},
    Flag{"--save-inputs", "DIR", "write the inputs into DIR as .npy files, and compute nothing"},
    Flag{"--board", "NAME", "whose rules the call is checked by (default n150)"},
};

// One request that is wrong costs its own line.
std::string answer_to(std::string_view line) {
  const auto request = jobs::parse_exact_request(line);
  const auto answer = request ? jobs::exact_result(*request) : Result<std::string>(fail(request.error()));
  return answer ? *answer : JsonObject().add("error", answer.error().message).text();
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  reuse_large_blocks();
  if (const std::string given = args.value("--case"); !given.empty()) {
    OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
    OPWRIGHT_TRY_ASSIGN(const std::string line, jobs::case_line_of(given, env.store, wait));
    JsonObject request;
    request.add("case", line).add("data", args.value("--data", "normal")).add("seed", args.value("--seed", "1"));
    if (const std::string folder = args.value("--save-inputs"); !folder.empty()) request.add("save_inputs", folder);
    OPWRIGHT_TRY_ASSIGN(const jobs::ExactRequest asked,
                        jobs::parse_exact_request(request.add("board", args.value("--board", "n150")).text()));
    OPWRIGHT_TRY_ASSIGN(const std::string answer, jobs::exact_result(asked));
    env.out << answer << '\n';
    return kExitOk;
  }
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open("-"));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const std::optional<std::string_view> line, input.next_line());
    if (!line) return kExitOk;
    if (!line->empty()) env.out << answer_to(*line) << '\n' << std::flush;
  }
}

}  // namespace

const Command kReference{
    "reference",
    "The exact result of a case in double precision, with its inputs: JSON, a line a case.",
    "A request is a line: {\"case\": LINE, \"seed\": \"7\", \"data\": \"normal\", \"board\": \"n150\"}; all but the "
    "case may\n"
    "be missing. Values are float64, little-endian, in hexadecimal digits (docs/formats/reference.md).\n"
    "--save-inputs DIR gives the inputs alone, of any size, with the very numbers that 'run' takes for this seed.\n\n"
    "  opwright reference --case 'ttnn.relu(tensor([32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))'\n"
    "  opwright reference < requests.jsonl > exact.jsonl",
    "",
    0,
    0,
    kFlags,
    run,
    false,
    true};

}  // namespace opwright::cli

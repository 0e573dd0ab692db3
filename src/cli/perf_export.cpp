#include <fmt/format.h>

#include <array>

#include "base/atomic_file.h"
#include "base/input.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "jobs/perf_report.h"
#include "perf/exports.h"
#include "report/perf_page.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--to", "FORMAT", "benchmark, csv, trace or html"},
    Flag{"--output", "OUT", "the file, -o OUT; without it, and of all but html, standard output"},
    Flag{"--against", "FILE", "html: an older report, for a view of what changed since"},
    Flag{"--step", "NAME", "benchmark, csv: the name of the step (default: the window)"},
    Flag{"--window", "NAME", "this window; NAME#2 of several; FROM..TO between any two signposts; '*' the whole file"},
    Flag{"--iterations", "N", "that the window has N iterations (default: found as the period of its operations)"},
    Flag{"--device", "N", "only rows of this device"},
    Flag{"--board", "NAME", "the board (default: from the architecture and cores of the rows)"},
};

constexpr char kDetails[] =
    "benchmark  records of measurements under their existing names, as plain JSON\n"
    "csv        the table of device times, one line, in its existing columns\n"
    "trace      events for chrome://tracing and ui.perfetto.dev: a track a device, a counter of its gaps\n"
    "html       a page for any browser: time line, treemap, positions, what changed; one file, no network\n\n"
    "  opwright perf export ops_perf_results.csv --window PERF_DECODE --to trace -o decode.json\n"
    "  opwright perf export after.csv --against before.csv --to html -o page.html";

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string to = args.value("--to"), file = args.value("--output"), step = args.value("--step");
  constexpr std::array<std::string_view, 4> kFormats{"benchmark", "csv", "trace", "html"};
  if (std::find(kFormats.begin(), kFormats.end(), to) == kFormats.end())
    return fail(ErrorCode::kUsage, fmt::format("perf export --to {}: choose benchmark, csv, trace or html", to));
  if (!args.value("--against").empty() && to != "html")
    return fail(ErrorCode::kUsage, "perf export: --against belongs to --to html; see also 'opwright perf diff'");
  if (to == "html" && file.empty()) return fail(ErrorCode::kUsage, "perf export --to html writes a file: add -o FILE");
  jobs::PerfRequest request{
      .paths = args.positionals, .window = args.value("--window"), .board = args.value("--board")};
  OPWRIGHT_TRY_ASSIGN(const std::size_t iterations, count_of(args, "--iterations", 0));
  request.iterations = static_cast<std::int64_t>(iterations);
  if (!args.value("--device").empty()) {
    OPWRIGHT_TRY_ASSIGN(const std::size_t device, count_of(args, "--device", 0));
    request.device = static_cast<std::int64_t>(device);
  }
  OPWRIGHT_TRY_ASSIGN(const perf::Report report, jobs::read_perf(request));
  std::string text;
  if (to == "benchmark") text = perf::benchmark_text(report, step);
  if (to == "csv") text = perf::device_perf_csv(report, step);
  if (to == "trace") text = perf::chrome_trace_text(report);
  if (to == "html") {
    std::optional<perf::Report> before;
    if (!args.value("--against").empty()) {
      request.paths = {args.value("--against")};
      OPWRIGHT_TRY_ASSIGN(before, jobs::read_perf(request));
    }
    text = report::perf_page(report, before ? &*before : nullptr);
  }
  if (!report.reduced.coverage.complete())
    env.err << "opwright: not every row of the window has its time and its devices; 'opwright perf' says what is "
               "missing\n";
  if (file.empty()) {
    env.out << text;
    return kExitOk;
  }
  OPWRIGHT_TRY(write_atomically(file, text));
  JsonObject object;
  object.add("file", file).add("format", to).add("bytes", static_cast<std::int64_t>(text.size()));
  print_object(object, {{"file", file}, {"format", to}, {"bytes", std::to_string(text.size())}},
               fmt::format("{}: {}\n", visible(file), size_text(static_cast<std::int64_t>(text.size()))), env);
  return kExitOk;
}

}  // namespace

const Command kPerfExport{"perf export",
                          "Write a window of a profiler report for other tools, or as a page.",
                          kDetails,
                          "FILE",
                          1,
                          1,
                          kFlags,
                          run,
                          false,
                          true};

}  // namespace opwright::cli

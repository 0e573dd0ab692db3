#include "cli/perf_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/input.h"
#include "base/visible_text.h"
#include "cli/output.h"
#include "perf/exports.h"
#include "report/perf_page.h"

namespace opwright::cli {

Result<int> export_perf(const ParsedArgs& args, jobs::PerfRequest request, CommandEnv& env) {
  const std::string to = args.value("--to"), file = args.value("--output"), step = args.value("--step");
  constexpr std::array<std::string_view, 4> kFormats{"benchmark", "csv", "trace", "html"};
  if (std::find(kFormats.begin(), kFormats.end(), to) == kFormats.end())
    return fail(ErrorCode::kUsage, fmt::format("perf --to {}: choose benchmark, csv, trace or html", to));
  if (!args.value("--against").empty() && to != "html")
    return fail(ErrorCode::kUsage, "perf: --against belongs to --to html; see also 'opwright perf diff'");
  // Standard output shows control characters, and the table begins with a byte order mark.
  if ((to == "html" || to == "csv") && file.empty())
    return fail(ErrorCode::kUsage, fmt::format("perf --to {} writes a file: add -o FILE", to));
  OPWRIGHT_TRY_ASSIGN(const perf::Report report, jobs::read_perf(request));
  std::string text;
  if (to == "benchmark") text = perf::benchmark_text(report, step);
  if (to == "csv") text = perf::device_perf_csv(report, step);
  if (to == "trace") text = perf::chrome_trace_text(report);
  if (to == "html") {
    std::optional<perf::Report> before;
    if (!args.value("--against").empty()) {
      request.paths = {args.value("--against")};
      request.together = perf::Together::kOneFile;
      request.devices = 0;
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

}  // namespace opwright::cli

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/near_names.h"
#include "cli/output.h"
#include "cli/results_views.h"
#include "jobs/import_results.h"
#include "report/exports.h"

namespace opwright::cli {
namespace {

constexpr std::array<std::string_view, 4> kFormats{"csv", "junit", "jsonl", "sweep"};

Result<report::Exported> export_one(std::string_view format, const std::string& path, const RunRecord& run,
                                    const report::ResultStream& results) {
  if (format == "csv") return report::write_csv(path, results);
  if (format == "junit") return report::write_junit(path, run, results);
  if (format == "jsonl") return report::write_jsonl(path, run, results);
  return report::write_sweep(path, run, results);
}

struct Target {
  std::string format, path;
};

Result<Target> parse_target(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string format = text.substr(0, colon);
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end())
    return fail(ErrorCode::kUsage, fmt::format("--export {}: no format '{}'{}; sweep:FOLDER, csv:FILE, junit:FILE or "
                                               "jsonl:FILE",
                                               text, format, did_you_mean(near_names(format, kFormats))));
  if (colon == std::string::npos || colon + 1 == text.size())
    return fail(ErrorCode::kUsage,
                fmt::format("--export {}: name the file: {}:{}", text, format, format == "sweep" ? "FOLDER" : "FILE"));
  return Target{format, text.substr(colon + 1)};
}

}  // namespace

Result<int> export_results(const std::vector<std::string>& targets, const RunRecord& run,
                           const report::ResultStream& results, CommandEnv& env) {
  std::vector<Target> parsed;  // all of them before the first is written
  for (const std::string& text : targets) {
    OPWRIGHT_TRY_ASSIGN(Target target, parse_target(text));
    parsed.push_back(std::move(target));
  }
  Table table{
      {{"format"}, {"path"}, {"files", true}, {"results", true}, {"bytes", true}, {"not_expressible", false, false}},
      {}};
  for (const Target& target : parsed) {
    OPWRIGHT_TRY_ASSIGN(const report::Exported done, export_one(target.format, target.path, run, results));
    table.rows.push_back({target.format, target.path, static_cast<std::int64_t>(done.files.size()), done.results,
                          done.bytes, Cell(count_list(done.not_expressible, 100), counts_json(done.not_expressible))});
    for (const auto& [what, count] : done.not_expressible)
      env.err << fmt::format("opwright: {}: {} has no place for {}\n", plural(count, "result"), target.format, what);
  }
  print(table, env);
  return kExitOk;
}

Result<int> import_results(const std::vector<std::string>& files, int wait, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const auto imported, jobs::import_results({env.store, wait, files}));
  Table table{{{"file"}, {"run"}, {"results", true}, {"added", true}, {"known", true}}, {}};
  for (const jobs::ImportedRun& one : imported)
    table.rows.push_back({one.file, one.run, one.results, one.added, one.results - one.added});
  print(table, env);
  return kExitOk;
}

}  // namespace opwright::cli

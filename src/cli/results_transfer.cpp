#include <fmt/format.h>

#include "cli/output.h"
#include "cli/results_views.h"
#include "jobs/import_results.h"

namespace opwright::cli {
Result<int> export_results(const std::vector<std::string>& targets, const jobs::RunResults& results, bool is_strict,
                           CommandEnv& env) {
  std::vector<jobs::ResultsTarget> parsed;  // all of them before the first is written
  for (const std::string& text : targets) {
    OPWRIGHT_TRY_ASSIGN(jobs::ResultsTarget target, jobs::parse_results_target(text));
    parsed.push_back(std::move(target));
  }
  OPWRIGHT_TRY_ASSIGN(const std::vector<report::Exported> written, jobs::export_results(results, parsed, is_strict));
  Table table{
      {{"format"}, {"path"}, {"files", true}, {"results", true}, {"bytes", true}, {"not_expressible", false, false}},
      {}};
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const jobs::ResultsTarget& target = parsed[i];
    const report::Exported& done = written[i];
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

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/near_names.h"
#include "cli/output.h"
#include "cli/results_views.h"
#include "report/exports.h"

namespace opwright::cli {
namespace {

constexpr char kImporting[] = "importing";  // status of a run whose results are still coming in
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
  Table table{{{"file"}, {"run"}, {"results", true}, {"added", true}, {"known", true}}, {}};
  std::optional<store::ResultsWriter> writer;  // opened when the first file is known to be sound: it may make the store
  for (const std::string& file : files) {
    RunRecord run;
    std::vector<std::int64_t> known;  // ascending
    std::string status_there;         // of the run in the store; "" it is new
    std::int64_t results = 0, added = 0;
    const auto begin = [&](const RunRecord& found) -> Status {
      run = found;
      if (!writer) {
        OPWRIGHT_TRY_ASSIGN(store::ResultsWriter opened, store::ResultsWriter::open(env.store, wait));
        writer = std::move(opened);
      }
      OPWRIGHT_TRY_ASSIGN(store::ResultsReader reader, store::ResultsReader::open(env.store, wait));
      OPWRIGHT_TRY_ASSIGN(const auto there, reader.runs());
      const auto same = std::find_if(there.begin(), there.end(), [&](const RunRecord& r) { return r.uid == run.uid; });
      if (same == there.end()) {
        RunRecord open = run;
        open.status = kImporting;  // so that an import that is killed is seen, and can be done again
        return writer->begin(open);
      }
      if (same->started != run.started || same->host != run.host || same->plan != run.plan)
        return fail(ErrorCode::kUsage, fmt::format("{}: the store has another run called {} (started {} on {}); "
                                                   "nothing was changed",
                                                   file, run.uid, same->started, same->host));
      status_there = same->status;
      OPWRIGHT_TRY_ASSIGN(known, reader.done(run.uid));
      return {};
    };
    OPWRIGHT_TRY(report::read_jsonl(file, begin, [&](CaseRecord&& record) -> Status {
      ++results;
      if (std::binary_search(known.begin(), known.end(), record.index)) return {};
      ++added;
      return writer->add(run.uid, record);
    }));
    if (status_there.empty() || status_there == kImporting || added > 0)
      OPWRIGHT_TRY(writer->end(run.uid, run.status, run.ended));
    table.rows.push_back({file, run.uid, results, added, results - added});
  }
  print(table, env);
  return kExitOk;
}

}  // namespace opwright::cli

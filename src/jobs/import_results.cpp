#include "jobs/import_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "report/exports.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr char kImporting[] = "importing";  // status of a run whose results are still coming in

}  // namespace

Result<std::vector<ImportedRun>> import_results(const ResultsImport& request) {
  std::vector<ImportedRun> imported;
  std::unique_ptr<store::ResultsWriter>
      writer;  // opened when the first file is known to be sound: it may make the store
  for (const std::string& file : request.files) {
    RunRecord run;
    std::vector<std::int64_t> known;  // ascending
    std::string status_there;         // of the run in the store; "" it is new
    std::int64_t results = 0, added = 0;
    const auto begin = [&](const RunRecord& found) -> Status {
      run = found;
      if (!writer) {
        OPWRIGHT_TRY_ASSIGN(writer, store::open_results_writer(request.store, request.wait_ms));
      }
      OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(request.store, request.wait_ms));
      OPWRIGHT_TRY_ASSIGN(const auto there, reader->runs());
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
      OPWRIGHT_TRY_ASSIGN(known, reader->done(run.uid));
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
    imported.push_back({file, run.uid, results, added});
  }
  return imported;
}

}  // namespace opwright::jobs

// What a store knows of its runs: listed, analysed, compared, written for other tools.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/analysis.h"
#include "report/coverage.h"
#include "report/exports.h"
#include "report/result_filter.h"
#include "report/result_stream.h"
#include "report/run_diff.h"
#include "store/results.h"

namespace opwright::jobs {

struct ResultsQuestion {
  std::string store;
  int wait_ms = 60'000;
  report::ResultFilter filter;  // which results of a run
};

// Whether a result is of a configuration that `where` matches: asked of the store, and of those that are in no store of
// their case line.
Result<std::function<bool(const CaseRecord&)>> results_where(const std::string& where, const std::string& store,
                                                             int wait_ms);

// A run with what became of its cases.
struct RunOverview {
  RunRecord run;
  std::map<Outcome, std::int64_t> outcomes;
};
Result<std::vector<RunOverview>> runs_of(const ResultsQuestion& question);

// One run, open to be read as often as somebody asks.
class RunResults {
 public:
  // `name`: the uid, its beginning, "last", "last~1", …
  static Result<RunResults> open(const ResultsQuestion& question, const std::string& name);

  const RunRecord& run() const { return run_; }
  const report::ResultStream& stream() const { return stream_; }  // of what the question asks for
  Result<report::Analysis> analyse(std::size_t worst) const;
  Result<report::Coverage> coverage() const;

 private:
  RunResults() = default;
  std::shared_ptr<store::ResultsReader> reader_;
  RunRecord run_;
  report::ResultStream stream_;
  bool is_filtered_ = false;
};

// What changed from run `a` to run `b`. An operator that only one of them has is a difference, no error.
Result<report::RunDiff> diff_results(const ResultsQuestion& question, const std::string& a, const std::string& b);

struct ResultsTarget {
  std::string format, path;
};
// "csv:FILE", "junit:FILE", "jsonl:FILE", "sweep:FOLDER"
Result<ResultsTarget> parse_results_target(const std::string& text);
// One answer a target; each is whole or not there.
Result<std::vector<report::Exported>> export_results(const RunResults& results,
                                                     const std::vector<ResultsTarget>& targets, bool is_strict = false);

struct WrittenPage {
  RunRecord run;
  std::int64_t results = 0, bytes = 0;
  std::string path;
};
// The results of a run as one page, FOLDER/index.html, whole or not at all; the folder is made where it is not there.
// `tables`: files of tables to show on it (report/side_table.h).
Result<WrittenPage> write_page(const ResultsQuestion& question, const std::string& name, const std::string& folder,
                               const std::vector<std::string>& tables = {});

}  // namespace opwright::jobs

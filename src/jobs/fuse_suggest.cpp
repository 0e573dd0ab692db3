#include "jobs/fuse_suggest.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

#include "exec/traced_board.h"
#include "format/native/run_facts.h"
#include "jobs/native_traces.h"
#include "jobs/perf_report.h"
#include "jobs/replay_trace.h"
#include "normalize/provenance_names.h"

namespace opwright::jobs {
namespace {

// The mean of each device operation, over its positions in an iteration.
Result<std::unordered_map<std::string, double>> measured_times(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(const perf::Report report, read_perf({.paths = {path}}));
  std::unordered_map<std::string, std::pair<double, std::int64_t>> sums;
  for (const perf::Position& position : report.reduced.positions) {
    const double mean = perf::statistics_of(position.kernel_ns).mean;
    if (!perf::has(mean)) continue;
    auto& [sum, count] = sums[report.op(position)];
    sum += mean;
    ++count;
  }
  std::unordered_map<std::string, double> out;
  for (const auto& [name, sum] : sums) out[name] = sum.first / static_cast<double>(sum.second);
  return out;
}

Result<std::vector<std::string>> files_of(const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  for (const std::string& one : wanted) {
    std::error_code error;
    if (!std::filesystem::is_directory(one, error)) {
      out.push_back(one);
      continue;
    }
    auto files = native_traces_at(one);
    if (files)
      out.insert(out.end(), files->begin(), files->end());
    else
      out.push_back(one);  // a trace of another format may be a folder
  }
  return out;
}

}  // namespace

Result<FuseSuggested> suggest_fused(const FuseSuggestRequest& request) {
  FuseSuggested out;
  std::unordered_map<std::string, double> measured;
  if (!request.profile.empty()) {
    OPWRIGHT_TRY_ASSIGN(measured, measured_times(request.profile));
    out.measured = static_cast<std::int64_t>(measured.size());
  }
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> files, files_of(request.traces));
  std::vector<std::vector<fuse::Candidate>> candidates;
  for (const std::string& file : files) {
    OPWRIGHT_TRY_ASSIGN(RecordedTrace recorded, open_recorded(file, request.store, request.wait_ms));
    OPWRIGHT_TRY_ASSIGN(const fuse::CallGraph graph, fuse::CallGraph::build(recorded.trace));
    const format::RunFacts facts = format::facts_of_run(recorded.trace);
    const auto board = traced_board(normalize::name_machine(facts.machine));
    fuse::OpCosts costs(recorded.trace, graph, board ? *board : *find_board("n150"));
    costs.use_measured(measured);
    ++out.traces;
    out.calls += static_cast<std::int64_t>(graph.size());
    out.inferred += graph.is_inferred() ? 1 : 0;
    candidates.push_back(fuse::find_candidates(graph, costs, request.options));
    for (fuse::Candidate& candidate : candidates.back()) candidate.what.sources.insert(recorded.name);
  }
  out.suggestions = fuse::group(std::move(candidates), request.options);
  return out;
}

}  // namespace opwright::jobs

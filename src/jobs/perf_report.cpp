#include "jobs/perf_report.h"

#include <utility>

namespace opwright::jobs {

Result<perf::Report> read_perf(const PerfRequest& request) {
  OPWRIGHT_TRY_ASSIGN(perf::Recording recording,
                      perf::read_recording(request.paths, {request.together, request.devices}));
  return report_of(std::move(recording), request);
}

Result<perf::Report> report_of(perf::Recording recording, const PerfRequest& request) {
  perf::Report report;
  report.recording = std::move(recording);
  const perf::Recording& all = report.recording;
  OPWRIGHT_TRY_ASSIGN(report.window, perf::choose_window(all.windows, all.marks, all.samples.size(), all.host.size(),
                                                         request.window, all.files.front()));
  OPWRIGHT_TRY_ASSIGN(report.reduced,
                      perf::reduce(all, report.window, {.iterations = request.iterations, .device = request.device}));
  OPWRIGHT_TRY_ASSIGN(report.board, perf::board_of(all, report.reduced, request.board));
  report.explanations = perf::explain(all, report.reduced, report.board);
  report.tax = perf::layout_tax(all, report.reduced);
  return report;
}

}  // namespace opwright::jobs

// What `perf` prints for people.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "perf/like.h"
#include "perf/report.h"

namespace opwright::cli {

struct PerfViewOptions {
  std::size_t positions = 60;  // at most so many lines
  std::size_t width = 160;
};
std::string perf_text(const perf::Report& report, const PerfViewOptions& options);
// In every format: a table is as wide as the terminal, CSV has a row a position.
void print_report(const perf::Report& report, PerfViewOptions options, bool explain, CommandEnv& env);
std::string windows_text(const perf::Recording& recording);
std::string like_text(std::string_view rule, const perf::LikeResult& result, const perf::Recording& recording,
                      const perf::Window& window);
Table positions_table(const perf::Report& report);
Table like_table(const perf::LikeResult& result);
// What is wrong with the files, a line a kind; "" nothing.
std::string troubles_text(const perf::Troubles& troubles);

}  // namespace opwright::cli

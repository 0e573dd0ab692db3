// What `perf diff` prints for people.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "perf/config_match.h"
#include "perf/report_diff.h"

namespace opwright::cli {

// `most`: lines of positions; the largest changes are kept, in their order.
void print_diff(const perf::Report& a, const perf::Report& b, const perf::ReportDiff& diff, std::size_t most,
                CommandEnv& env);
Table diff_table(const perf::Report& a, const perf::Report& b, const perf::ReportDiff& diff);
void print_config_match(const perf::Report& part, const perf::Report& whole, const perf::ConfigMatch& match,
                        const std::vector<std::string>& ignored, std::size_t most, CommandEnv& env);

}  // namespace opwright::cli

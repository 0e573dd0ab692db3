// Comparisons of reports as JSON: docs/formats/profiler-csv.md says what each field is.
#pragma once

#include "base/json_object.h"
#include "perf/config_match.h"
#include "perf/report_diff.h"

namespace opwright::perf {

JsonObject diff_json(const Report& a, const Report& b, const ReportDiff& diff);
JsonObject config_match_json(const Report& part, const Report& whole, const ConfigMatch& match,
                             const std::vector<std::string>& ignored);
std::string difference_json(const Difference& difference);
// Why a total cannot be told apart; "" it can.
std::string why_unsure(const Report& a, const Report& b, const Difference& difference);

}  // namespace opwright::perf

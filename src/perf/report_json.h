// A report as JSON: docs/formats/profiler-csv.md says what each field is. Figures that are not there are null.
#pragma once

#include <string>

#include "base/json_object.h"
#include "perf/like.h"
#include "perf/report.h"

namespace opwright::perf {

std::string figure_json(double figure);  // null for none
std::string statistics_json(const Statistics& statistics);
JsonObject coverage_json(const Recording& recording, const Coverage& coverage);
// `explained`: positions with work, bytes and advice too, sums by operation, and the layout tax.
JsonObject report_json(const Report& report, bool explained);
JsonObject windows_json(const Recording& recording);
JsonObject like_json(std::string_view rule, const LikeResult& result, const Recording& recording, const Window& window);

}  // namespace opwright::perf

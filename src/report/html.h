// A run as one page: no network, no server, no second file. docs/decisions/0013-report-page.md says why it is made so.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "model/case_record.h"
#include "report/result_stream.h"
#include "report/side_table.h"

namespace opwright::report {

struct Page {
  std::string html;
  std::int64_t results = 0;
};
Result<Page> make_page(const RunRecord& run, const ResultStream& results, std::span<const SideTable> tables = {});

}  // namespace opwright::report

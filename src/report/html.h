// A run as one page: no network, no server, no second file. docs/decisions/0013-report-page.md says why it is made so.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "model/case_record.h"
#include "report/case_history.h"
#include "report/page_data.h"
#include "report/result_stream.h"
#include "report/run_diff.h"
#include "report/side_table.h"

namespace opwright::report {

struct Page {
  std::string html;
  std::int64_t results = 0;
};
// What stands on the page beside the results of the run; all of it may be missing.
struct PageContext {
  std::span<const SideTable> tables;
  const RunDiff* since = nullptr;  // from the run before it, on the same device where there is one
  const CaseHistory* history = nullptr;
  std::function<CaseTexts(const CaseRecord&)> spell;  // the room that spells them lies beside this one
};
Result<Page> make_page(const RunRecord& run, const ResultStream& results, const PageContext& context = {});

}  // namespace opwright::report

// A run and a result as rows: the columns of the parts kRun and kResult (tables.h), in their order.
#pragma once

#include <string>

#include "model/case_record.h"
#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {

void bind_run(SummedRow& row, std::int64_t id, const RunRecord& run);
RunRecord read_run(const Statement& row);

void bind_record(SummedRow& row, std::int64_t run_id, const CaseRecord& record);
// A word of a closed set that this build does not know is an error: a default would be a lie.
Result<CaseRecord> read_record(const Statement& row, const std::string& path);

}  // namespace opwright::store::sqlite

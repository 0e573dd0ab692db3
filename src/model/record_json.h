// A result as one JSON object: the line of a worker's answer and of `results --export jsonl`.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "model/case_record.h"

namespace opwright {

// Fields that hold nothing are left out.
std::string to_json(const CaseRecord& record);
Result<CaseRecord> parse_record(const json::Node& node);

}  // namespace opwright

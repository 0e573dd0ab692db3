// All results of a run, one after the other, as often as somebody asks.
#pragma once

#include <functional>

#include "base/result.h"
#include "model/case_record.h"

namespace opwright::report {

using UseResult = std::function<Status(CaseRecord&&)>;
// In the order of the plan; store::ResultsReader::for_each is one.
using ResultStream = std::function<Status(const UseResult& use)>;

}  // namespace opwright::report

// Suites whose cases are expected to fail.
#pragma once

#include "model/case_record.h"

namespace opwright::jobs {

// The record as it counts: in a suite named xfail… a failure is what was expected, and a pass is not.
CaseRecord as_expected(CaseRecord record);

}  // namespace opwright::jobs

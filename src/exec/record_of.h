// What the store keeps of a case: its record before it runs, and what its result adds.
#pragma once

#include "device/device.h"
#include "exec/job.h"
#include "exec/run_case.h"
#include "vectors/test_vector.h"

namespace opwright {

// All of the job but its estimates.
Job job_of(const vectors::TestVector& vector, std::int64_t index, std::string_view device);

void fill_record(const CaseResult& result, const Capabilities& device, CaseRecord& record);
// What the second device of a differential run said, and where the two disagree.
void fill_against(const CaseResult& first, const CaseResult& second, const Capabilities& device, CaseRecord& record);
// The same for a golden function.
void fill_golden(const CaseResult& golden, CaseRecord& record);

}  // namespace opwright

// Results for tests, without a device.
#pragma once

#include <string>
#include <vector>

#include "model/case_record.h"
#include "report/result_stream.h"

namespace opwright::report {

inline CaseRecord record_of(std::int64_t index, Outcome outcome = Outcome::kPassed,
                            const std::string& op = "ttnn.sigmoid_accurate") {
  CaseRecord record;
  record.index = index;
  record.vector = "model_traced/" + std::to_string(index);
  record.key = "00ff" + std::to_string(index);
  record.op = op;
  record.suite = "model_traced";
  record.line = op + "(input_tensor=tensor([1,1,32," + std::to_string(32 * (index + 1)) + "] BFLOAT16 TILE DEVICE))";
  record.repeat = "opwright run --case '" + record.line + "' --seed 1 --device sim:n150";
  record.dtype = "BFLOAT16";
  record.layout = "TILE";
  record.memory = "DRAM INTERLEAVED";
  record.models = "efficientnetb0";
  record.calls = 10;
  record.elements = 64;
  record.outcome = outcome;
  record.started = "2026-11-15T20:00:00.500Z";
  record.wall_seconds = 0.010;
  record.device_seconds = 0.004;
  record.reference_seconds = 0.003;
  if (outcome == Outcome::kPassed || outcome == Outcome::kFailed) {
    record.pcc = 0.9999;
    record.ulp = 1.0;
    record.bound_used = 0.5;
    record.judged = 32;
  }
  return record;
}

inline RunRecord run_of(const std::string& uid, std::int64_t planned = 0) {
  RunRecord run;
  run.uid = uid;
  run.started = "2026-11-15T20:00:00Z";
  run.ended = "2026-11-15T20:01:00Z";
  run.host = "vm";
  run.device = "sim:n150";
  run.numerics = "exact-model";
  run.status = "complete";
  run.suite = "model_traced";
  run.planned = planned;
  return run;
}

inline ResultStream stream_of(const std::vector<CaseRecord>& records) {
  return [&records](const UseResult& use) -> Status {
    for (const CaseRecord& record : records) OPWRIGHT_TRY(use(CaseRecord(record)));
    return {};
  };
}

}  // namespace opwright::report

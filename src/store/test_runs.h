// Runs and results for tests of stores.
#pragma once

#include <limits>
#include <string>

#include "model/case_record.h"

namespace opwright::store {

inline RunRecord run_named(const std::string& uid, const std::string& started = "2026-11-15T20:00:00Z") {
  RunRecord run;
  run.uid = uid;
  run.started = started;
  run.status = "running";
  run.planned = 3;
  return run;
}

// Every field has a value of its own, so that two swapped columns are seen.
inline CaseRecord full_record() {
  CaseRecord r;
  r.index = 7;
  r.vector = "v1";
  r.key = "abcd";
  r.config_hash = "59555cf6";
  r.op = "ttnn.add";
  r.suite = "model_traced";
  r.line = "ttnn.add(a='x')\n\"é\"";
  r.repeat = "opwright run --case …";
  r.dtype = "BFLOAT16";
  r.layout = "TILE";
  r.memory = "DRAM INTERLEAVED";
  r.models = "bert,resnet";
  r.calls = 11;
  r.elements = 12;
  r.recipe = {Distribution::kIntegers, std::numeric_limits<std::uint64_t>::max()};
  r.outcome = Outcome::kTimedOut;
  r.reason = "too slow";
  r.argument = "dim";
  r.blame = Blame::kStateLeak;
  r.evidence = "passes alone";
  r.notes = "assumed";
  r.attempts = 4;
  r.pcc = 0.1 + 0.2;
  r.ulp = 1.5;
  r.nrmse = 1e-300;
  r.bound_used = 0.25;
  r.judged = 13;
  r.verdicts = "[{}]";
  r.outputs = "[[]]";
  r.fields = 20;
  r.fields_equal = 19;
  r.differences = "x: 1 -> 2";
  r.faults = 6;
  r.faults_noticed = 5;
  r.unnoticed = "swap";
  r.against = "accepted";
  r.disagreement = "here so, there so";
  r.started = "2026-11-15T20:00:01.123Z";
  r.wall_seconds = 1.25;
  r.device_seconds = 1.0 / 3;
  r.cold_seconds = 2.5;
  r.kernel_seconds = 1e-6;
  r.reference_seconds = 0.75;
  r.l1_per_core = 31;
  r.dram = std::int64_t{1} << 40;
  r.host_bytes = 33;
  return r;
}

inline CaseRecord at(std::int64_t index) {
  CaseRecord record;
  record.index = index;
  record.op = "ttnn.add";
  record.outcome = Outcome::kPassed;
  return record;
}

}  // namespace opwright::store

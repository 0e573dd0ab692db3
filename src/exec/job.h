// What the parent of a run and its workers say to each other: docs/formats/worker-protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "exec/recorded_return.h"
#include "exec/stage.h"
#include "model/case_record.h"

namespace opwright {

inline constexpr int kWorkerProtocol = 2;
inline constexpr char kGoodbye[] = "{\"bye\": true}";  // a worker's last line

// One case to run, as the parent keeps it: the part of its record that is known before, and what only the run needs.
struct Job {
  CaseRecord record;
  std::string board;                     // of the trace, for devices that take the board of each case; "" else
  std::optional<double> pcc;             // threshold instead of the operator's own
  std::vector<RecordedReturn> recorded;  // what its calls returned when they were traced
  double seconds = 30;                   // time-out
  std::int64_t bytes = 0;                // estimate of the memory that the worker will need
  bool fresh = false;                    // in a process that has run nothing
};
std::string to_json(const Job& job);
Result<Job> parse_job(std::string_view line);

// What a worker needs of it.
struct WorkOrder {
  std::int64_t index = 0;  // comes back with the answer
  std::string line;
  DataRecipe recipe;
  std::string board;
  std::optional<double> pcc;
  std::vector<RecordedReturn> recorded;
};
WorkOrder order_of(const Job& job);
std::string to_json(const WorkOrder& order);
Result<WorkOrder> parse_order(std::string_view line);

// The record of a case: what was known of it before, and what its worker found.
CaseRecord joined(const CaseRecord& planned, CaseRecord found);

}  // namespace opwright

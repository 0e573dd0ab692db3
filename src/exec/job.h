// What the parent of a run and its workers say to each other: docs/formats/worker-protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "exec/stage.h"
#include "model/case_record.h"

namespace opwright {

inline constexpr int kWorkerProtocol = 1;
inline constexpr char kGoodbye[] = "{\"bye\": true}";  // a worker's last line

// One case to run: the part of its record that is known before, and what only the run needs.
struct Job {
  CaseRecord record;
  std::string board;          // of the trace, for devices that take the board of each case; "" else
  std::optional<double> pcc;  // threshold instead of the operator's own
  double seconds = 30;        // time-out
  std::int64_t bytes = 0;     // estimate of the memory that the worker will need
};
std::string to_json(const Job& job);
Result<Job> parse_job(std::string_view line);

}  // namespace opwright

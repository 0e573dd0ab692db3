// The child side of a run: reads jobs, runs them on its device, answers with records. It may die of a case; its parent
// (exec/runner) then replaces it. The lines: docs/formats/worker-protocol.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/external/device_program.h"
#include "exec/run_case.h"
#include "model/perf.h"

namespace opwright {

struct WorkerSetup {
  std::string device = "sim";           // as on the command line
  bool own_board = false;               // each case on the board it was traced on
  std::string against;                  // a second device; "" none
  std::vector<DeviceProgram> programs;  // those behind the names, where they are programs
  int threads = 1;
  bool golden = false;           // compare our references with the golden functions of a device that has them
  bool mutate = false;           // plant faults behind the comparer
  std::int64_t memory = 0;       // address space that the process may take; 0: no limit
  std::optional<PerfPlan> perf;  // cases are timed, not judged: the iterations of one round
  double hello_seconds = 0;      // for a device's program to say hello; 0: the usual
  RunOptions options;
};
std::string to_json(const WorkerSetup& setup);
Result<WorkerSetup> parse_worker_setup(std::string_view line);

// Serves until the end of `in`. Returns the exit status.
int serve_worker(int in, int out);

}  // namespace opwright

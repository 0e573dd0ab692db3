// Times of a case: how they were asked for, and what was measured. The text of the field `perf` of a result
// (docs/formats/perf.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright {

struct Iterations {
  int warm_up = 10, measured = 10;
};

// How a case is timed.
struct PerfPlan {
  Iterations device{10, 10};       // each synchronised, the chip's own time
  Iterations end_to_end{10, 100};  // from the call to its end, on the host's clock
  int rounds = 5;      // all cases a part of their iterations, then all of them again: drift meets all alike
  bool trace = false;  // replayed from a trace of the device
  bool program_cache = true;
};
std::string to_json(const PerfPlan& plan);
PerfPlan parse_perf_plan(std::string_view json);
// "10+100"
std::optional<Iterations> parse_iterations(std::string_view text);

// Nanoseconds, by round.
using Rounds = std::vector<std::vector<std::int64_t>>;

struct CasePerf {
  std::string refused;       // why there are none; "" there are
  bool is_modelled = false;  // by the clock of a simulated device: one number, the same each time
  bool trace = false, program_cache = true;
  Rounds end_to_end, device, host;
  std::vector<double> busy;  // what others took of the machine before each round, as a part of 1
  bool is_forced = false;    // measured although that was too much

  // What two runs are compared by: the chip's time where there is one.
  const Rounds& main() const { return device.empty() ? end_to_end : device; }
};
std::string to_json(const CasePerf& perf);
Result<CasePerf> parse_case_perf(std::string_view json);

// Figures of all iterations together.
struct TimeFigures {
  std::int64_t count = 0;
  double median = 0, mean = 0, sd = 0, least = 0, most = 0;  // ns
};
std::optional<TimeFigures> figures_of(const Rounds& rounds);
double median_of(std::vector<double> values);  // of at least one

}  // namespace opwright

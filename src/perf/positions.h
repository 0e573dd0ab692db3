// The correct rule: rows of a window -> joined over devices by (operation, replay session) -> one figure an operation
// (the slowest device; the mean where the devices wait for one another) -> iterations, found as the period of the
// sequence of full signatures -> the values of each position over the iterations. Sums are over positions, so that an
// operation that occurs six times in an iteration counts six times.
//
// The values stay, not only their statistics: whoever compares two reports draws from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/recording.h"

namespace opwright::perf {

struct Statistics {
  std::int64_t count = 0;  // values that there are
  double mean = kNoFigure, median = kNoFigure, sd = kNoFigure, min = kNoFigure, max = kNoFigure;
};
// Of the figures that are there. sd is that of a sample (n - 1); with one value there is none.
Statistics statistics_of(const std::vector<double>& values);

// The n-th operation of an iteration. values[i] is iteration i; NaN where it has no figure.
struct Position {
  SignatureId signature = 0;
  std::vector<double> kernel_ns;    // reduced over devices
  std::vector<double> op_to_op_ns;  // reduced by the same rule
  std::vector<double> host_ns;      // sum over devices; NaN for replays, which the host does not see
  double cores = kNoFigure;         // the largest seen
  double available_cores = kNoFigure;
  double fpu_percent = kNoFigure, dram_percent = kNoFigure, noc_percent = kNoFigure;  // means of what was measured
  double pm_ideal_ns = kNoFigure;
  std::uint64_t first_row = 0;  // of the first iteration
};

// How much of the window the figures stand on. Nothing of it is ever filled with 0.
struct Coverage {
  std::int64_t device_rows = 0;
  std::int64_t rows_without_time = 0;        // ran, but the report has no time
  std::int64_t captured_rows = 0;            // recorded into a trace: they did not run, and are no operation here
  std::int64_t operations = 0;               // joined over devices
  std::int64_t operations_without_time = 0;  // no device has a time
  std::int64_t missing_device_rows = 0;      // devices of the window that an operation has no row of, summed
  std::int64_t operations_missing_devices = 0;
  std::uint64_t first_missing_row = 0;   // of the first such operation
  std::int64_t left_out_operations = 0;  // before, between or behind whole iterations
  std::uint64_t first_left_out_row = 0;
  std::int64_t repeated_rows = 0;      // the same operation again on one device: an operation of its own
  std::int64_t unknown_ops = 0;        // operations of classes that the table of device operations does not have
  std::int64_t signature_differs = 0;  // operations whose devices disagree about what they ran
  std::vector<std::pair<std::int32_t, std::int64_t>> rows_of_device;
  std::int64_t sessions = 0;  // trace replays in the window
  bool joined = true;         // false: plain call counts, each row stands alone

  // Every row has its time and every operation its devices.
  bool complete() const;
};

struct Reduced {
  std::int64_t iterations = 0;
  std::vector<std::int32_t> devices;
  std::vector<Position> positions;
  Coverage coverage;
  double host_op_ns = kNoFigure;  // operations on the host, an iteration; part of host_ns

  // Sums over positions of the mean; NaN when no position has one.
  double kernel_ns = kNoFigure;
  double op_to_op_ns = kNoFigure;      // without the first position's
  double first_op_gap_ns = kNoFigure;  // the first position's: it holds the wait for the host
  double host_ns = kNoFigure;          // HOST DURATION of what the host called, an iteration
};

struct ReduceOptions {
  std::int64_t iterations = 0;  // 0: found as the period; else that many are there, or it is an error
  std::int64_t device = -1;     // only this one
};

Result<Reduced> reduce(const Recording& recording, const Window& window, const ReduceOptions& options);

// Where the iterations of a sequence of operations begin, and how long one is.
struct Iterations {
  std::size_t period = 0;
  std::vector<std::size_t> starts;
};
// The shortest period whose repetitions cover the sequence from its beginning; behind the last whole one at most a part
// of one more. A sequence that does not repeat is one iteration. `damaged`: rows of the file were left out, so
// iterations that lack an operation are skipped and the whole ones found around them, when there are at least three of
// them.
Iterations find_iterations(const std::vector<std::uint32_t>& sequence, bool damaged);

}  // namespace opwright::perf

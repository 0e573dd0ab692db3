// The columns of a profiler report, found by name and never by position. Which generation it is follows from the names:
// nothing else of the file says so.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perf/trouble.h"

namespace opwright::perf {

// Columns that we read, one each. Times of Quasar and tensors come in groups (below).
enum class Column : std::uint8_t {
  kOpCode,
  kOpType,
  kCallCount,
  kDeviceId,
  kArch,
  kAttributes,
  kFidelity,
  kCores,
  kAvailableCores,
  kHostStart,
  kHostEnd,
  kHostDuration,
  kFwStart,
  kFwEnd,
  kOpToOp,
  kKernel,
  kTraceId,
  kSession,
  kProgramHash,
  kPmIdeal,
  kFpu,
  kNoc,
  kDram,
  kCount,
};
std::string_view name_of(Column column);  // "OP CODE"

// The seven columns of INPUT_i or OUTPUT_i; -1: not there.
struct TensorColumns {
  std::array<int, 4> extents{-1, -1, -1, -1};  // W, Z, Y, X
  int layout = -1, dtype = -1, memory = -1;
};

enum class Generation : std::uint8_t {
  k2024,    // INPUT_0_W: plain extents; COMPUTE KERNEL PATH
  kV1,      // plain extents; COMPUTE KERNEL SOURCE
  kV2,      // INPUT_0_W_PAD[LOGICAL]
  kV2_1,    // … and DEVICE ARCH, AVAILABLE WORKER CORE COUNT
  kQuasar,  // times by type of processor instead of DEVICE KERNEL DURATION
};
std::string_view name_of(Generation generation);  // "2024", "v1", …, "quasar"

// What kernel_ns of a row is. Only the first is a kernel's time; the others are named wherever a time is shown.
enum class TimeSource : std::uint8_t {
  kKernel,             // DEVICE KERNEL DURATION [ns]
  kProcessorKernels,   // the longest of DEVICE <processor> KERNEL DURATION [ns]
  kProcessorFirmware,  // the longest of DEVICE <processor> FW DURATION [ns]
  kNone,
};
std::string_view name_of(TimeSource source);

class Header {
 public:
  // Of the cells of a header row. Doubled columns and those that figures need but are missing go to `troubles`.
  static Header of(const std::vector<std::string_view>& cells, const std::string& file, std::uint64_t row,
                   Troubles& troubles);
  // Whether a row's first cells are those of a header.
  static bool is_header(const std::vector<std::string_view>& cells);

  int at(Column column) const { return columns_[static_cast<std::size_t>(column)]; }  // -1: not there
  std::size_t width() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

  Generation generation = Generation::kV1;
  TimeSource time_source = TimeSource::kNone;
  std::vector<int> time_columns;      // the longest counts
  std::vector<int> op_to_op_columns;  // the same of Quasar's latencies; one column otherwise
  std::vector<TensorColumns> inputs, outputs;
  std::vector<std::string> unknown;  // columns that nothing here reads and no generation is known to have

 private:
  std::vector<std::string> names_;
  std::array<int, static_cast<std::size_t>(Column::kCount)> columns_{};
};

}  // namespace opwright::perf

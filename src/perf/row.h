// One row of a profiler report (ops_perf_results_*.csv), as the reader hands it over: an operation on one device, an
// operation on the host, or a signpost. The texts are views into the reader's buffer and live until the callback
// returns; what is kept is copied (perf/recording.h).
//
// A figure that a row does not have is NaN: `has(x)` asks. It is never 0, because 0 ns is a measurement.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace opwright::perf {

inline constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
inline bool has(double figure) { return !std::isnan(figure); }

// A tensor as its seven columns say it. The extents are W, Z, Y, X; ranks above four are cut by the profiler itself.
struct RowTensor {
  std::array<std::int64_t, 4> padded{1, 1, 1, 1};
  std::array<std::int64_t, 4> logical{1, 1, 1, 1};  // as padded where the file has plain numbers (2024)
  std::string_view layout;                          // "TILE"
  std::string_view dtype;                           // "BFLOAT16"
  std::string_view memory;                          // "DEV_0_L1_WIDTH_SHARDED", or the name of a host storage
  bool sound = true;                                // false: an extent could not be read

  bool operator==(const RowTensor&) const = default;
};

inline constexpr std::uint32_t kNoSession = UINT32_MAX;

// An operation that ran on one device (OP TYPE tt_dnn_device).
struct DeviceRow {
  std::uint64_t row = 0;               // as a spreadsheet counts: the header is row 1
  std::string_view op_code;            // C++ class of the device operation, as spelled
  std::uint64_t call = 0;              // GLOBAL CALL COUNT: operation << 10 | device; in 2024 a plain counter
  bool has_call = false;               // false: the row cannot be joined with those of other devices
  std::int64_t device = 0;             // DEVICE ID
  std::uint32_t session = kNoSession;  // METAL TRACE REPLAY SESSION ID; none: it ran eagerly

  double kernel_ns = kNoFigure;                         // by Header::time_source
  double op_to_op_ns = kNoFigure;                       // from the end of the operation before on this device
  double host_ns = kNoFigure;                           // HOST DURATION
  double host_start = kNoFigure, host_end = kNoFigure;  // HOST … TS
  double fw_start = kNoFigure, fw_end = kNoFigure;      // cycles
  double cores = kNoFigure, available_cores = kNoFigure;
  double fpu_percent = kNoFigure, dram_percent = kNoFigure, noc_percent = kNoFigure;
  double pm_ideal_ns = kNoFigure;  // the profiler's own model

  std::string_view arch, attributes, fidelity, program_hash;
  // What the operation is, whichever device and iteration it is of: operation, attributes, fidelity and tensors,
  // without device numbers. Equal keys are one signature (perf/recording.h).
  std::string_view signature_text;
};

// An operation on the host (tt_dnn_cpu, python_fallback).
struct HostRow {
  std::uint64_t row = 0;
  std::string_view op_code, op_type;
  double host_start = kNoFigure, host_ns = kNoFigure;
};

// A mark that the program set, at a time of the host.
struct Signpost {
  std::uint64_t row = 0;
  std::string_view name;     // OP CODE
  std::string_view message;  // ATTRIBUTES
  double host_start = kNoFigure;
};

}  // namespace opwright::perf

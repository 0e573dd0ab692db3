// A whole report, or several of one run, as it is kept in memory: each distinct operation once (Signature), and 96
// bytes a device row (Sample). What is asked of a report is asked of this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "dialect/ttnn/device_operations.h"
#include "perf/csv_reader.h"
#include "perf/window.h"

namespace opwright::perf {

// What an operation is, whichever iteration and device ran it.
struct Signature {
  std::string text;                        // owns what the parts below are views into
  SignatureParts parts;                    // attributes without what differs from call to call
  std::string arch;                        // "wormhole_b0"; "" unknown
  std::string name;                        // class without namespace and adapter: "MatmulDeviceOperation"
  const DeviceOperation* known = nullptr;  // null: a class that nobody wrote down

  bool collective() const { return known != nullptr && known->collective; }
};
using SignatureId = std::uint32_t;

struct Sample {
  SignatureId signature = 0;
  std::uint32_t session = kNoSession;
  std::uint64_t operation = 0;  // joins devices: call count >> 10; of a plain counter the count itself
  std::int32_t device = 0;      // global: several hosts have each their own numbers
  bool captured = false;        // recorded into a trace, and not run
  bool joinable = true;         // false: nothing says which rows of other devices belong to it
  bool clock_back = false;      // the device was ahead of this time before: its gap is not one
  std::uint64_t row = 0;
  std::uint32_t file = 0;
  double kernel_ns = kNoFigure, op_to_op_ns = kNoFigure, host_ns = kNoFigure;
  float cores = 0, available_cores = 0;                      // 0: not said
  float fpu_percent = 0, dram_percent = 0, noc_percent = 0;  // NaN: not measured
  float pm_ideal_ns = 0;
  double fw_start = kNoFigure;
};

static_assert(sizeof(Sample) == 96);  // memory grows with the length of a report by this

struct HostSample {
  std::string op;
  std::uint64_t row = 0;
  double host_ns = kNoFigure;
};

struct Recording {
  std::vector<std::string> files;
  std::vector<std::unique_ptr<Signature>> signatures;
  std::vector<Sample> samples;  // in the order of the file
  std::vector<HostSample> host;
  std::vector<Mark> marks;
  Windows windows;
  Troubles troubles;
  std::vector<Header> headers;      // of each file, more than one where it changes in the middle
  std::int64_t devices_a_host = 0;  // several hosts: how many devices each has
  std::int64_t unmatched_rows = 0;  // several runs: rows of the others that the first one does not have
  std::int64_t filled_figures = 0;  // several runs: figures that the first one did not have
  bool joinable = true;             // false: call counts are a plain counter, devices cannot be joined

  const Signature& of(const Sample& sample) const { return *signatures[sample.signature]; }
  TimeSource time_source() const;
};

enum class Together : std::uint8_t {
  kOneFile,
  kHosts,  // one file a host of one run: devices get numbers of their own, operations are joined over all
  kRuns,   // the same program again with other counters: rows are joined by identity, figures filled in
};

struct ReadOptions {
  Together together = Together::kOneFile;
  std::int64_t devices = 0;  // how many devices there must be in all; 0: whatever there is
};

Result<Recording> read_recording(const std::vector<std::string>& paths, const ReadOptions& options);
Result<Recording> read_one(const std::string& path);
// Parts of read_recording(), for tests and for whoever has the recordings already.
Result<Recording> merge_hosts(std::vector<Recording> hosts, std::int64_t devices);
Result<Recording> merge_runs(std::vector<Recording> runs);

}  // namespace opwright::perf

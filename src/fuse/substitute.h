// The module as it was recorded, replayed; and replayed again with each match of the sequence replaced by the function:
// every tensor that is made behind it must be the same, bit by bit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "device/device.h"
#include "format/native/native_trace.h"
#include "fuse/call_graph.h"
#include "fuse/fused_test.h"

namespace opwright::fuse {

struct ModuleOptions {
  std::uint64_t seed = 1;
  std::uint64_t first = 0, last = UINT64_MAX;  // calls of the module
  double most_work = 4e10;
  std::function<bool()> stop;
};

// What a replay made.
struct ModuleRun {
  struct Made {
    std::uint64_t call = 0, tensor = 0;
    Hash128 hash;
    friend bool operator==(const Made&, const Made&) = default;
  };
  std::vector<Made> made;  // in the order in which they were made
  std::int64_t calls = 0, ran = 0;
  std::int64_t not_run = 0;  // computing calls that the device did not run: their results are made up, alike in both
  std::string first_not_run;
  std::int64_t nonfinite = 0;         // tensors with NaN or infinity …
  std::uint64_t first_nonfinite = 0;  // … the first of them, a call
  bool stopped = false;
  Hash128 digest() const;  // of all that was made
};

Result<ModuleRun> run_module(format::NativeTrace& trace, Device& device, const ModuleOptions& options);

struct Substitution {
  std::int64_t matches = 0, replaced = 0;
  std::map<std::string, std::int64_t> not_replaced;  // reason -> matches
  std::int64_t compared = 0, equal = 0;              // tensors made behind or by the function
  std::string first_difference;                      // "tensor #12 of call 40 (ttnn.add)"; "" none
};

// `baseline`: of the same trace, device and options.
Result<Substitution> substitute(format::NativeTrace& trace, const CallGraph& graph, const FusedTest& test,
                                Device& device, const ModuleOptions& options, const ModuleRun& baseline);

}  // namespace opwright::fuse

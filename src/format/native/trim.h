// A smaller native trace: the calls that a filter takes, and what they need.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "format/native/call_filter.h"
#include "format/native/native_trace.h"
#include "format/native/trace_output.h"

namespace opwright::format {

struct TrimReport {
  std::uint64_t kept = 0;
  std::map<std::string, std::uint64_t> dropped;  // operation -> calls
  std::uint64_t parents_dropped = 0;  // kept calls whose caller is not kept: they go to the next one outwards
  std::uint64_t not_whole = 0;        // calls whose value is not in the file
};

// Numbers, times, threads and tensor ids stay as they are; facts, tests and notes are kept. Calls that are dropped are
// counted in the new trace as filtered.
Result<TrimReport> trim(NativeTrace& trace, const CallFilter& filter, TraceOutput& output);

}  // namespace opwright::format

// Positions added up: by operation, by what they do with their tensors, by where those lie.
#pragma once

#include <string>
#include <vector>

#include "perf/report.h"

namespace opwright::perf {

struct Group {
  std::string name;
  std::int64_t positions = 0;         // of an iteration
  double kernel_ns = 0, gaps_ns = 0;  // an iteration; the first position's gap is left out
  double share = 0;                   // of all kernel time, in percent
  double flops = 0, dram_bytes = 0;
};

enum class GroupBy : std::uint8_t { kOp, kWork, kMemory };
// The longest first.
std::vector<Group> groups_of(const Report& report, GroupBy by);

}  // namespace opwright::perf

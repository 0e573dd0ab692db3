// What configurations of a store cost in a real run: the positions of a profiler report matched to the configurations
// that were traced of the same model, by operation, shapes, dtypes, layouts and memory.
//
// A report names classes of C++, a trace operations of Python: which belong together says the table of device
// operations (dialect/ttnn/device_operations.h). Its rows have no data flow, so where several configurations fit one
// position, each is given an equal part of its time, and that is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/perf_report.h"
#include "jobs/question.h"
#include "model/op_config.h"

namespace opwright::jobs {

enum class MatchedBy : std::uint8_t {
  kTensors,        // operation, and every input: shape, dtype, layout, memory
  kWithoutMemory,  // the same, but where the inputs lie
  kNone,
};
std::string_view name_of(MatchedBy by);  // "tensors", "without_memory", "none"

enum class WhyUnmatched : std::uint8_t { kMatched, kUnknownClass, kNoOperation, kOtherTensors };
std::string_view name_of(WhyUnmatched why);  // "unknown_class", …

struct TracedConfig {
  std::string op;
  ConfigKey key{};
  std::int64_t calls = 0;
  std::string inputs;  // for people: its tensors
};

struct PositionMatch {
  MatchedBy by = MatchedBy::kNone;
  WhyUnmatched why = WhyUnmatched::kMatched;
  std::vector<std::size_t> configs;  // of ProfileMatch::configs
  std::string nearest;               // of kOtherTensors: what the most similar configuration has otherwise
};

struct ConfigCost {  // an iteration
  std::int64_t positions = 0;
  double kernel_ns = 0, gap_ns = 0;
  bool shared = false;  // of a position that others fit as well
};

struct ProfileMatch {
  perf::Report report;
  std::vector<TracedConfig> configs;     // of the store, that the selector takes
  std::vector<PositionMatch> positions;  // beside those of the report
  std::map<ConfigKey, ConfigCost> cost;
  double kernel_ns = 0, gap_ns = 0;                  // of all positions
  double matched_kernel_ns = 0, matched_gap_ns = 0;  // of those with a configuration
  std::int64_t matched = 0, shared = 0, without_memory = 0;

  double share_percent(const ConfigCost& cost) const { return 100 * cost.kernel_ns / kernel_ns; }
};

Result<ProfileMatch> match_profile(perf::Report report, const Question& question);
// Reads the report first.
Result<ProfileMatch> match_profile(const PerfRequest& profile, const Question& question);

}  // namespace opwright::jobs

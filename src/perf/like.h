// Three ways of adding up a report that exist elsewhere, for people whose targets were made with them. Each does what
// its original does, errors included; docs/formats/profiler-csv.md says what those are. The rule is in positions.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/recording.h"

namespace opwright::perf {

enum class Like : std::uint8_t {
  kGptOss,    // devices merged by the order of their rows; the sum over all iterations
  kDeepSeek,  // mean over all rows of an op code, host rows too; each op code counts once
  kDetailed,  // rows of all devices interleaved, the first `warmup` rows of each op code dropped
};
std::optional<Like> like_of(std::string_view name);  // "gpt-oss", "deepseek", "detailed"

struct LikeOp {
  std::string op;  // OP CODE as spelled
  std::int64_t count = 0;
  double avg_kernel_ns = kNoFigure, avg_op_to_op_ns = kNoFigure;
  double total_kernel_ns = kNoFigure, total_op_to_op_ns = kNoFigure;                       // gpt-oss
  double min_kernel_ns = kNoFigure, max_kernel_ns = kNoFigure, std_kernel_ns = kNoFigure;  // detailed
  std::string refused;  // why the original fails here; "" it does not
};

struct LikeResult {
  std::vector<LikeOp> ops;                                            // by op code
  double total_kernel_ns = kNoFigure, total_op_to_op_ns = kNoFigure;  // not of `detailed`, which has no total
};

inline constexpr std::size_t kDetailedWarmup = 10;
LikeResult add_up_like(Like like, const Recording& recording, const Window& window,
                       std::size_t warmup = kDetailedWarmup);

}  // namespace opwright::perf

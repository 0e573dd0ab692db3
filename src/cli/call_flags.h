// The flags that choose calls of a trace, shared by the verbs that work on traces.
#pragma once

#include <string>

#include "cli/command.h"
#include "format/native/call_filter.h"

namespace opwright::cli {

inline constexpr Flag kOnlyFlag{"--only", "OP",
                                "only calls of this operation, e.g. add, ttnn.add, '*matmul*' (may be repeated)", true};
inline constexpr Flag kPhaseFlag{"--phase", "P", "only calls of this phase (may be repeated)", true};
inline constexpr Flag kLabelFlag{"--label", "L", "only calls under this label, e.g. 'layer0*' (may be repeated)", true};
inline constexpr Flag kCallLimitFlag{"--limit", "N", "at most N calls (default all)"};
inline constexpr Flag kRangeFlag{"--range", "A:B", "only calls with numbers from A to B"};

inline Result<format::CallFilter> call_filter_of(const ParsedArgs& args) {
  format::CallFilter filter;
  filter.ops = args.all("--only");
  filter.phases = args.all("--phase");
  filter.labels = args.all("--label");
  if (const std::string range = args.value("--range"); !range.empty()) {
    if (const Status parsed = format::parse_range(range, filter); !parsed)
      return fail(ErrorCode::kUsage, "--range " + parsed.error().message);
  }
  return filter;
}

}  // namespace opwright::cli

// Which calls of a trace are meant: by operation, phase, label and number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/native/native_trace.h"

namespace opwright::format {

struct CallFilter {
  std::vector<std::string> ops;     // globs; with or without the library's name: `add`, `ttnn.add`, `*matmul*`
  std::vector<std::string> phases;  // globs
  std::vector<std::string> labels;  // globs
  std::uint64_t first = 0;          // numbers of calls, both ends included
  std::uint64_t last = UINT64_MAX;
  std::function<bool(const NativeCall&)> also;  // asked of those that all else takes; may be empty

  bool takes_all() const {
    return ops.empty() && phases.empty() && labels.empty() && first == 0 && last == UINT64_MAX && !also;
  }
};

// "120:131", "120:", ":131" or "120".
Status parse_range(std::string_view text, CallFilter& filter);
// `*` stands for anything, `?` for one character.
bool glob_matches(std::string_view pattern, std::string_view text);

// A filter applied to the calls of one trace; what it decided about an operation or a context it knows again.
class CallChooser {
 public:
  CallChooser(NativeTrace& trace, const CallFilter& filter) : trace_(trace), filter_(filter) {}
  bool takes(const NativeCall& call);

 private:
  bool takes_op(ValueId call);
  bool takes_context(ValueId context);

  NativeTrace& trace_;
  const CallFilter& filter_;
  std::unordered_map<ValueId, bool> ops_, contexts_;
};

}  // namespace opwright::format

// A `--where` asked of single calls of a native trace: each stands for its configuration, seen once.
#pragma once

#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "format/native/native_calls.h"
#include "select/selector.h"

namespace opwright::jobs {

class CallSelector {
 public:
  CallSelector(format::NativeTrace& trace, const select::Selector& selector);

  bool takes(const format::NativeCall& call);
  // Calls of which no configuration can be made; they are not taken.
  std::size_t not_understood() const { return not_understood_; }

 private:
  bool decide(const format::NativeCall& call);

  const select::Selector& selector_;
  format::NativeCalls calls_;
  std::string machine_;  // label
  std::size_t not_understood_ = 0;
  std::unordered_map<Hash128, bool, Hash128Hasher> known_;  // calls that repeat
};

}  // namespace opwright::jobs

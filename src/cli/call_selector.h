// A `--where` asked of single calls of a native trace: each stands for its configuration, seen once.
#pragma once

#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "format/native/native_trace.h"
#include "format/native/run_facts.h"
#include "format/per_op/writer.h"
#include "normalize/normalize.h"
#include "select/selector.h"

namespace opwright::cli {

class CallSelector {
 public:
  CallSelector(format::NativeTrace& trace, const select::Selector& selector);

  bool takes(const format::NativeCall& call);
  // Calls of which no configuration can be made; they are not taken.
  std::size_t not_understood() const { return not_understood_; }

 private:
  bool decide(const format::NativeCall& call);

  format::NativeTrace& trace_;
  const select::Selector& selector_;
  format::RunFacts facts_;
  std::string machine_;  // label
  format::PerOpWriter writer_;
  normalize::Normalizer normalizer_;
  json::Document machine_document_, document_;
  const json::Node* machine_info_ = nullptr;
  std::string text_;
  std::size_t not_understood_ = 0;
  std::unordered_map<Hash128, bool, Hash128Hasher> known_;  // calls that repeat
};

}  // namespace opwright::cli

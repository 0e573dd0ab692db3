#include "format/native/infer_flow.h"

#include <algorithm>

#include "format/native/native_trace.h"

namespace opwright::format {

void FlowInference::uses(std::string_view test, const std::vector<ValueId>& specs, NativeCall& call) {
  if (test != test_) {  // nothing of the last one is used
    by_spec_.clear();
    test_ = test;
  }
  call.tensors.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto found = by_spec_.find(specs[i]);
    if (found == by_spec_.end()) continue;  // from outside
    const bool asked_once = std::ranges::count(specs, specs[i]) == 1;
    if (found->second.state == Candidates::State::kOne && asked_once) {
      call.tensors[i].id = found->second.id;
      found->second.state = Candidates::State::kTaken;
      ++inferred_;
    } else {
      ++ambiguous_;
    }
  }
}

void FlowInference::results(const std::vector<ValueId>& specs, NativeCall& call) {
  call.results.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    call.results[i].id = ++last_id_;
    const auto [entry, alone] = by_spec_.try_emplace(specs[i]);
    entry->second = {alone ? Candidates::State::kOne : Candidates::State::kSeveral, last_id_};
  }
}

void FlowInference::tell(NativeWriter& writer) const {
  if (inferred_ > 0 || ambiguous_ > 0) tell_flow(writer, "inferred", inferred_, ambiguous_);
}

void tell_flow(NativeWriter& writer, std::string_view edges, std::int64_t inferred, std::int64_t ambiguous) {
  capture::Encoder fact;
  fact.structure("DataFlow", 3);
  fact.field("edges");
  fact.string(edges);
  fact.field("inferred");
  fact.integer(inferred);
  fact.field("ambiguous");
  fact.integer(ambiguous);
  writer.fact(kFlowFact, fact.view());
}

}  // namespace opwright::format

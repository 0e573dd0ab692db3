// Which result of an earlier call an argument is, where a format names no tensors: found where one answer alone is
// possible, never guessed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/native/native_call.h"
#include "format/native/native_writer.h"

namespace opwright::format {

// A use of a tensor is the one earlier result of exactly its spec. Where several results could be meant, or two
// arguments of a call could be the one result, it is ambiguous, and stays so: a result that was taken may be used again
// (a residual sum), so it counts among the several too. It is not drawn a second time: the tensor may as well be
// another of the same spec, from outside. How often this is right: docs/decisions/0018-sequences.md.
class FlowInference {
 public:
  // Gives the call's tensors their ids: arguments before the call is written, results before its end is.
  void uses(std::string_view test, const std::vector<ValueId>& specs, NativeCall& call);
  void results(const std::vector<ValueId>& specs, NativeCall& call);
  // Says in the trace what was found.
  void tell(NativeWriter& writer) const;

  std::int64_t inferred() const { return inferred_; }
  std::int64_t ambiguous() const { return ambiguous_; }

 private:
  struct Candidates {
    enum class State : std::uint8_t { kOne, kTaken, kSeveral } state = State::kOne;
    std::uint64_t id = 0;  // of the one
  };
  std::unordered_map<ValueId, Candidates> by_spec_;  // results of the test at hand
  std::string test_;
  std::uint64_t last_id_ = 0;
  std::int64_t inferred_ = 0, ambiguous_ = 0;
};

// The fact under which a trace of another format says where its identities come from: a struct with `edges` (a word)
// and counts. Traces of our recorder have none: theirs are recorded.
void tell_flow(NativeWriter& writer, std::string_view edges, std::int64_t inferred, std::int64_t ambiguous);

}  // namespace opwright::format

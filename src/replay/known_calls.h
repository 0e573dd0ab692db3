// Recorded calls understood: which operator, which of the recorded tensors is which of its parameters, and which of its
// outputs is which recorded result. A model makes few different calls very often: each is understood once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "exec/plan_call.h"
#include "exec/recorded_return.h"
#include "exec/run_case.h"
#include "format/native/native_calls.h"
#include "replay/exchange.h"

namespace opwright::replay {

inline constexpr std::size_t kNoPlace = SIZE_MAX;

struct KnownCall {
  std::string op;
  std::string trouble;          // why no call can be made of the record; "" it can
  bool described = false;       // the operator is one that we know
  bool assumed_layout = false;  // of a tensor
  OpConfig config;
  std::optional<PlannedCall> plan;  // nothing: `refusal` says why
  Refusal refusal;
  std::optional<Exchange> exchange;  // between chips: parts of others stand in
  // Where the tensors of the planned call, and of the call as it was recorded, stand among the recorded ones.
  std::vector<std::size_t> planned_slots, sent_slots;
  // Specs of sound shapes; without a memory config where the tensor cannot lie there.
  std::vector<TensorSpec> arguments;  // the recorded tensors, by slot
  std::vector<TensorSpec> results;    // and those of the result
  // For each planned output its place among the results; kNoPlace: it was not returned.
  std::vector<std::size_t> result_of;
  std::vector<RecordedReturn> recorded;  // what it returned, for the judge of specs; none: not known
  // What this replay found out about it:
  std::optional<CaseResult> admitted;  // outcome kNotRun: it may run
  std::optional<CaseResult> proof;     // whether what is executed is what was traced
};

// Whether it says a shape that some device could hold: its elements can be counted.
bool has_sound_shape(const TensorSpec& spec);

class KnownCalls {
 public:
  // `assumed_layout`: of tensors of which the trace says none; kAbsent: such a call is not run. `one_chip`: exchanges
  // between chips are made ready for a device that has one.
  KnownCalls(format::NativeTrace& trace, const Board& board, Layout assumed_layout = Layout::kAbsent,
             bool one_chip = false);

  // Valid until the next 10,000 different calls were asked for.
  KnownCall& of(const format::NativeCall& call);
  const format::LiftNotes& notes() const { return notes_; }
  const std::string& machine() const { return machine_; }  // label of the machine that recorded the trace

 private:
  std::unique_ptr<KnownCall> understand(const format::NativeCall& recorded);
  void understand_exchange(KnownCall& out) const;

  format::NativeTrace& trace_;
  Board board_;
  Layout assumed_layout_;
  bool one_chip_;
  format::NativeCalls calls_;
  format::LiftNotes notes_;
  std::string machine_;
  std::unordered_map<Hash128, std::unique_ptr<KnownCall>, Hash128Hasher> known_;
};

}  // namespace opwright::replay

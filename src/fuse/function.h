// A fused test as a function that runs: its calls in their order on any device of this process, and the composition of
// their references on the same inputs.
//
// On a device with one chip, tensors are those of one chip, and the parts of other chips stand in for each exchange
// (replay/exchange.h). References compute in double precision; between two of them values are float32, never rounded to
// a narrower dtype.
//
//   OPWRIGHT_TRY_ASSIGN(const Function function, Function::prepare(test, set, device.can().board));
//   const Ran ran = function.run(device, function.inputs(seed));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "exec/plan_call.h"
#include "fuse/fused_test.h"
#include "ops/collectives.h"
#include "replay/chain.h"

namespace opwright::fuse {

// What a run makes wrong on purpose: on the device alone, never in the reference.
struct Spoil {
  std::optional<std::size_t> permuted_input;  // its values in another order
  std::optional<std::size_t> shifted_call;    // of this exchange, the part of one chip is moved on by a row
  std::optional<std::size_t> shifted_input;   // a part of a tensor that is spread over chips: moved on by a row
};

struct Ran {
  std::string refused;  // why the device gave no numbers; "" it did
  std::size_t at = 0;   // … at this call
  std::vector<HostTensor> outputs;
  bool is_finite = true;
};

class Function {
 public:
  // Fails with kUnsupported where a call cannot be made ready, and says which.
  static Result<Function> prepare(const FusedTest& test, const ParameterSet& set, const Board& board);

  // One for each input of the test, as the operator that takes it first wants it filled.
  std::vector<HostTensor> inputs(std::uint64_t seed) const;
  Ran run(Device& device, std::vector<HostTensor> inputs, const Spoil& spoil = {}) const;
  // Exact outputs. Refused where an operator has no reference.
  Ran exact(std::vector<HostTensor> inputs) const;

  struct Call {
    PlannedCall plan;
    std::optional<Exchange> exchange;
    bool carries = false;                // its result has the values of its first tensor
    bool does_nothing = false;           // it frees
    std::vector<std::size_t> tensors;    // of the plan, in FusedCall::tensors
    std::vector<std::size_t> result_of;  // for each planned output its place among the results; SIZE_MAX none
  };
  const std::vector<Call>& calls() const { return calls_; }
  std::string op(std::size_t call) const { return test_->calls[call].op; }

 private:
  struct Memory;  // what each tensor holds
  Ran walk(std::vector<HostTensor> inputs, Device* device, const Spoil& spoil) const;

  const FusedTest* test_ = nullptr;  // outlives it
  const ParameterSet* set_ = nullptr;
  std::vector<Call> calls_;
};

}  // namespace opwright::fuse

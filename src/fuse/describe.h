// From matches in a trace to the description of a fused test: one graph, the tensors that cross its boundary, and a set
// of parameters for each different configuration.
#pragma once

#include <string>

#include "base/result.h"
#include "dialect/ttnn/board.h"
#include "format/native/native_trace.h"
#include "fuse/fused_test.h"
#include "fuse/match.h"
#include "replay/known_calls.h"

namespace opwright::fuse {

struct Described {
  FusedTest test;
  // Matches that have the same calls and data flow, but other transparent calls between them, or another order of
  // writes: they are no match of this function, and are told in the findings.
  std::int64_t other_graphs = 0;
};

// `known`: of the same trace. Fails with kUnsupported where a call of the sequence cannot be understood.
Result<Described> describe(format::NativeTrace& trace, const CallGraph& graph, const Matches& matches,
                           replay::KnownCalls& known, const std::string& name);

// The tensors of a set of calls that only they see: bytes that are written and read again for nothing, on one chip.
struct InternalBytes {
  std::int64_t all = 0, peak = 0;
};
InternalBytes internal_bytes(const FusedTest& test, const ParameterSet& set);

// Bytes of a tensor on one chip, padded as it lies there.
std::int64_t device_bytes(const TensorSpec& spec);
// The same tensor as one chip has it: its own shape, no placement.
TensorSpec on_one_chip(const TensorSpec& spec);

}  // namespace opwright::fuse

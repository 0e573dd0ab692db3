// The graph of one match in the words of a description: calls in an order in which they can run, and for each tensor
// where it comes from. Equal wirings are the same function.
#pragma once

#include <vector>

#include "base/result.h"
#include "fuse/fused_test.h"
#include "fuse/match.h"
#include "replay/known_calls.h"

namespace opwright::fuse {

struct WiredInput {
  Use use;  // as the first call that takes it does
  NodeIndex first_taker = kNoNode;
  std::uint32_t slot = 0;         // as recorded, of that call
  bool is_first_operand = false;  // some call takes it as its first tensor
  bool is_written = false, is_freed = false;
};

struct Wiring {
  std::vector<NodeIndex> nodes;  // one for each of `calls`
  std::vector<FusedCall> calls;
  std::vector<WiredInput> inputs;
  std::vector<FusedOutput> outputs;  // without names
};

// `with_frees`: calls that free tensors of the function belong to it.
Result<Wiring> wire(const CallGraph& graph, const Place& place, replay::KnownCalls& known, bool with_frees);

bool same_function(const Wiring& a, const Wiring& b);

}  // namespace opwright::fuse

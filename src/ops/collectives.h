// Exchanges between the chips of a mesh, as far as a recorded call tells what they did: how many chips took part, and
// the exact result of one of them. What such a call returns is what was recorded: its rules are not known here.
#pragma once

#include <span>

#include "ops/op.h"

namespace opwright {

// Reference and budget of an exchange; null where nobody here knows it. Its first tensor holds the parts of all chips
// (dialect/ttnn/collective_calls.h).
const OpSpec* find_collective(std::string_view op);

struct Exchange {
  std::int64_t chips = 1;
  bool replicated = false;  // every chip holds the same: the trace says so of the first tensor
};

// How many chips take part: by the dimension in which argument and result differ, else by the mesh that the first
// tensor is spread over. Refuses where neither tells, or where they contradict the exchange.
Checked<Exchange> exchange_of(const BoundCall& call, std::span<const OutputSpec> outputs);

}  // namespace opwright

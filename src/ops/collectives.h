// Exchanges between the chips of a mesh, as far as a recorded call tells what they did: how many chips took part, and
// the exact result of one of them. A replay takes what such a call returned as it was recorded; the rules of those that
// can be run alone are rows of collective_ops.cpp.
#pragma once

#include <span>

#include "ops/op.h"

namespace opwright {

// Reference and budget of an exchange; null where nobody here knows it. Its first tensor holds the parts of all chips
// (dialect/ttnn/collective_calls.h).
const OpSpec* find_collective(std::string_view op);

// Exact results and budget of every exchange: where its rules are known too, an operator of its own has them.
Checked<Exact> collective_reference(const ReferenceJob& job);
ErrorBudget collective_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output);

// The mesh that the tensor is spread over, as its trace says; else the whole board, whose chips old traces often took
// as one line.
Shape mesh_of(const BoundCall& call, const TensorSpec& input, const Board& board);
// Chips that take part: those along the call's axis, or all of them.
Checked<std::int64_t> ring_size(const BoundCall& call, const Shape& mesh);

struct Exchange {
  std::int64_t chips = 1;
  bool replicated = false;  // every chip holds the same: the trace says so of the first tensor
};

// How many chips take part: by the dimension in which argument and result differ, else by the mesh that the first
// tensor is spread over. Refuses where neither tells, or where they contradict the exchange.
Checked<Exchange> exchange_of(const BoundCall& call, std::span<const OutputSpec> outputs);

}  // namespace opwright

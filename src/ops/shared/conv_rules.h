// When a convolution is refused, what it returns, and its exact result.
#pragma once

#include <vector>

#include "dialect/ttnn/board.h"
#include "model/bound_call.h"
#include "ops/op.h"

namespace opwright {

Checked<std::vector<OutputSpec>> infer_conv(const BoundCall& call, const Board& board);
Checked<Exact> conv_reference(const ReferenceJob& job);
// Weights laid out by the library have zeros between groups.
bool fill_conv(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor);

// Multiply-adds of a pixel.
double conv_work(const BoundCall& call);

}  // namespace opwright

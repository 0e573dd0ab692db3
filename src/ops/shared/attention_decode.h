// One query a user against a cache: scaled_dot_product_attention_decode and its paged form.
#pragma once

#include <optional>

#include "ops/shared/attention.h"

namespace opwright {

// Both forms; a page table makes it the paged one.
Checked<std::vector<OutputSpec>> infer_decode(const BoundCall& call, const Board& board);
Checked<Attending> decode_queries(const ReferenceJob& job);
Checked<Exact> decode_exact(const ReferenceJob& job);
bool fill_decode(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor);
void arrange_decode(const BoundCall& call, std::span<HostTensor> inputs);

}  // namespace opwright

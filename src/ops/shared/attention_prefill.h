// scaled_dot_product_attention and its chunked form over a paged cache.
#pragma once

#include <optional>

#include "ops/shared/attention.h"

namespace opwright {

struct Prefill {
  const TensorSpec* q = nullptr;
  const TensorSpec* k = nullptr;
  const TensorSpec* v = nullptr;
  const TensorSpec* mask = nullptr;
  const TensorSpec* sink = nullptr;
  const TensorSpec* pages = nullptr;
  std::optional<AttentionProgram> program;
  ComputeConfig compute = kAttentionCompute;
  bool causal = true;
  double scale = 1;
  std::int64_t window = 0;  // keys that a query sees at most; 0: all
};

Checked<Prefill> read_prefill(const BoundCall& call);
// Rules that both forms have.
Checked<void> check_prefill_operands(const Prefill& prefill);
Checked<void> check_prefill_heads(const Prefill& prefill);
Checked<void> check_prefill_end(const Prefill& prefill, const Board& board);
Checked<std::vector<OutputSpec>> prefill_outputs(const BoundCall& call, const Prefill& prefill, const Board& board);
// `start`: position of the first query among the keys.
Checked<Attending> prefill_queries(const ReferenceJob& job, std::int64_t start);
Checked<Exact> prefill_exact(const ReferenceJob& job, std::int64_t start);

}  // namespace opwright

// Attention: softmax(q k^T scale + mask) v, for queries that see a part of the keys.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dialect/ttnn/attention_program.h"
#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "model/bound_call.h"
#include "model/error_budget.h"
#include "ops/op.h"

namespace opwright {

// Keys and values, as they are or in blocks that a page table names.
struct KeyStore {
  const HostTensor* keys = nullptr;
  const HostTensor* values = nullptr;
  const HostTensor* pages = nullptr;  // [users, pages]; null: [users, heads, positions, dim]

  std::int64_t length() const;  // positions of a user
  // Row of `keys` and `values` for a position; -1 when no block holds it.
  std::int64_t row(std::int64_t user, std::int64_t head, std::int64_t position) const;
};

// What one query row sees.
struct Query {
  const float* q = nullptr;
  std::int64_t user = 0;
  std::int64_t kv_head = 0;
  std::int64_t begin = 0;                    // first key
  std::int64_t end = 0;                      // one behind the last; begin == end: nothing, the result is zero
  std::function<double(std::int64_t)> mask;  // added to the scaled score of a key; may be empty
  const double* sink = nullptr;              // a score without a value, scaled like the others
};

// All that a call's picked rows see.
struct Attending {
  KeyStore store;
  std::vector<double> sinks = {};  // one a head, where the call has them; queries point into it
  std::vector<Query> queries = {};
  double scale = 1;
  ComputeConfig compute = {};
};
Checked<Exact> attention_exact(const Attending& attending, std::int64_t length);

struct ScoreError {
  double of_score = 0;  // relative error of a score
  double relative = 1;  // the budget's, which magnitudes are multiplied with
};

// Exact rows, `length` values each.
void append_attention(const KeyStore& store, const std::vector<Query>& queries, double scale, std::int64_t length,
                      ScoreError error, Exact& exact);

// The defaults of all attention operators.
inline constexpr ComputeConfig kAttentionCompute{.fidelity = Fidelity::kHiFi2, .approx = true};
Checked<double> attention_scale(const BoundCall& call, std::int64_t dim);
ScoreError score_error(const ComputeConfig& compute);
ErrorBudget attention_budget(const BoundCall& call);

// Masks of 0 and -inf; no row is hidden as a whole.
void fill_mask(HostTensor& tensor, Random& random);

// Multiply-adds that one query takes, with the tile that it lies in: both products over all keys.
double attention_work(const BoundCall& call);

}  // namespace opwright

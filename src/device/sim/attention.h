// The flash loop of attention kernels: scores, an online softmax with statistics in 16 bits, and weighted values, one
// chunk of keys after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "device/sim/kernel.h"
#include "device/sim/pack.h"
#include "dialect/ttnn/compute_config.h"
#include "model/tensor_spec.h"

namespace opwright::sim {

// How all rows of a call are computed.
struct Flash {
  ComputeConfig compute;
  float scale = 1;
  std::int64_t dim = 0;        // of queries and keys
  std::int64_t value_dim = 0;  // of values and of the result
  DType q = DType::kBfloat16;
  DType k = DType::kBfloat16;
  DType v = DType::kBfloat16;
};

// A few query rows that see the same keys, chunk by chunk.
class FlashRows {
 public:
  FlashRows(const Flash& flash, const float* queries, std::int64_t rows);

  // A chunk of `count` keys and their values, rows `dim` and `value_dim` long. `bias` (rows x count) holds what is
  // added to the scores, -inf where a row does not see a key; null: all see all.
  void add(const float* keys, const float* values, std::int64_t count, const float* bias);
  // A score without a value, one for each row.
  void add_sink(const float* sinks);
  // rows x value_dim, packed to bfloat16; the caller packs them to the output's dtype.
  void finish(float* out);

 private:
  void rescale(const std::vector<float>& largest);

  const Flash& flash_;
  const float* queries_;
  std::int64_t rows_;
  bool begun_ = false;
  std::vector<float> scores_;   // rows x keys of a chunk
  std::vector<float> product_;  // rows x value_dim of a chunk
  std::vector<float> largest_;  // of each row so far, before the scale
  std::vector<float> sums_;     // rows x 32: of the weights, column by column of a tile
  std::vector<float> result_;   // rows x value_dim
};

// Keys and values of a call: as they are, or in blocks that a page table names.
struct KeyBlocks {
  const HostTensor* keys = nullptr;
  const HostTensor* values = nullptr;
  const HostTensor* pages = nullptr;

  std::int64_t length() const;
  // Copies (or points to) `count` rows of a head from `begin` on; positions that no block holds give zeros.
  const float* rows(const HostTensor& tensor, std::int64_t user, std::int64_t head, std::int64_t begin,
                    std::int64_t count, std::vector<float>& buffer) const;
};

// The whole prefill: `start` is the position of the first query among the keys.
Checked<std::vector<HostTensor>> prefill(const KernelJob& job, std::int64_t start);
// One query a user; paged or not.
Checked<std::vector<HostTensor>> decode(const KernelJob& job);
Checked<void> admit_attention(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);

}  // namespace opwright::sim

// Key/value caches in device memory: the cache is the output, rows of it are written over.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device/sim/kernel.h"

namespace opwright::sim {

// A copy of the cache that a kernel changes.
class CacheUpdate {
 public:
  CacheUpdate(const HostTensor& cache, const HostTensor& input, const OutputSpec& output);

  // Row `row` of the cache becomes row `from` of the input, packed to the cache's dtype; from < 0: padding, zeros.
  // Rows outside the cache are dropped.
  void write(std::int64_t row, std::int64_t from);
  HostTensor take() { return std::move(out_); }

 private:
  const HostTensor& input_;
  HostTensor out_;
  std::int64_t width_;
  std::int64_t rows_;
  bool repack_;  // between dtypes
};

// One position of each user, wherever the page table says that it lies.
Checked<HostTensor> update_cache(const KernelJob& job, std::string_view cache, std::string_view input,
                                 std::size_t output);
Checked<void> admit_cache(const BoundCall& call, std::span<const OutputSpec> outputs, const Board& board);

}  // namespace opwright::sim

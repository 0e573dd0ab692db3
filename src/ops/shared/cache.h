// Key/value caches: [users or blocks, heads, positions, dim], changed in place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/bound_call.h"
#include "model/error_budget.h"
#include "ops/op.h"

namespace opwright {

// A row of the cache (its last dimension) that a call writes, and the row of the input that goes there.
struct CacheRow {
  std::int64_t cache = 0;
  std::int64_t input = 0;  // -1: the padding of the input's last tile, zero
};

// Sorted by cache row, one entry a row: of two writes the later one counts. Drops what lies outside the cache.
std::vector<CacheRow> settled(std::vector<CacheRow> rows, const HostTensor& cache);

// The rows that decode writes for each user: `positions` gives each user's place (negative: nothing is written), and
// the page table, where there is one, the block that holds it.
struct DecodeWrite {
  std::vector<std::int64_t> positions;
  const HostTensor* pages = nullptr;  // [users, pages]
  bool shared = false;                // all users write the cache of user 0
  std::int64_t modulo = 0;            // positions wrap; 0: they do not
};
std::vector<CacheRow> decode_rows(const DecodeWrite& write, const HostTensor& cache, const HostTensor& input);

// The whole cache after the call, for the rows that are asked for.
Exact cache_exact(const ReferenceJob& job, const HostTensor& cache, const HostTensor& input,
                  const std::vector<CacheRow>& rows);
std::vector<std::int64_t> cache_rows(const Checked<std::vector<CacheRow>>& rows);  // none when refused

// Nothing changes but the written rows. They are exact where the dtypes agree; else the packer rounds them.
ErrorBudget cache_budget(const BoundCall& call, std::string_view cache, std::string_view input);

// Input data: pages, each at most once as far as there are enough blocks; positions below `end` (from `begin` on).
void fill_pages(HostTensor& tensor, std::int64_t blocks, Random& random);
void fill_positions(HostTensor& tensor, std::int64_t begin, std::int64_t end, Random& random);

}  // namespace opwright

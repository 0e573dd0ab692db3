// When updates of key/value caches are refused.
#pragma once

#include <optional>
#include <string_view>

#include "dialect/ttnn/board.h"
#include "model/bound_call.h"
#include "model/refusal.h"
#include "ops/shared/cache.h"

namespace opwright {

// ttnn.update_cache and ttnn.fill_cache: what both ask of the two tensors.
Checked<void> check_cache_pair(const TensorSpec& cache, const TensorSpec& input);

// The decode updates of paged caches (experimental.paged_update_cache and its fused form).
struct DecodeUpdate {
  const TensorSpec* cache = nullptr;
  const TensorSpec* input = nullptr;
  const TensorSpec* positions = nullptr;  // update_idxs_tensor
  const TensorSpec* pages = nullptr;
  Shape update_idxs;
  bool share_cache = false;
  std::int64_t modulo = 0;
};
Checked<DecodeUpdate> decode_update(const BoundCall& call, std::string_view cache, std::string_view input);
// `fused`: the form that writes two caches at once.
Checked<void> check_decode_update(const BoundCall& call, const DecodeUpdate& update, bool fused);
Checked<std::vector<CacheRow>> decode_update_rows(const ReferenceJob& job, std::string_view cache,
                                                  std::string_view input);
bool fill_decode_update(const BoundCall& call, std::string_view cache, std::size_t slot, Random& random,
                        HostTensor& tensor);

// The chips that shall write, where a call names some: they must be on the board.
Checked<void> check_mesh_coords(const BoundCall& call, const Board& board);

}  // namespace opwright

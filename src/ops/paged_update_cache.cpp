// ttnn.experimental.paged_update_cache: one position of each user, in the block that the page table names, in place.
#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::string_view kCache = "cache_tensor";
constexpr std::string_view kInput = "input_tensor";

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const DecodeUpdate update, decode_update(call, kCache, kInput));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK(check_decode_update(call, update, false));
  OPWRIGHT_CHECK(check_mesh_coords(call, board));
  return given_back(*update.cache, kCache);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto rows, decode_update_rows(job, kCache, kInput));
  return cache_exact(job, *job.input(kCache), *job.input(kInput), rows);
}

std::vector<std::int64_t> written(const ReferenceJob& job) {
  return cache_rows(decode_update_rows(job, kCache, kInput));
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  return cache_budget(call, kCache, kInput);
}

bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  return fill_decode_update(call, kCache, slot, random, tensor);
}

}  // namespace

const OpSpec& paged_update_cache_op() {
  static const OpSpec spec{.name = "ttnn.experimental.paged_update_cache",
                           .params = {{.name = kCache, .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = kInput, .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "update_idxs", .era1 = 2, .lost = Lost::kAssumeNone},
                                      {.name = "update_idxs_tensor", .era1 = 3, .role = Role::kPositions},
                                      {.name = "share_cache", .era1 = 4},
                                      {.name = "page_table", .era1 = 5, .role = Role::kPages},
                                      {.name = "batch_offset", .era1 = 6},
                                      {.name = "compute_kernel_config", .era1 = 7},
                                      {.name = "mesh_coords", .era1 = 8, .lost = Lost::kNoMatter},
                                      {.name = "block_size"},
                                      {.name = "num_kv_heads"},
                                      {.name = "cache_position_modulo"}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill,
                           .written = written};
  return spec;
}

}  // namespace opwright

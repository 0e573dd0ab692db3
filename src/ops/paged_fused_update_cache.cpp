// ttnn.experimental.paged_fused_update_cache: paged_update_cache of keys and values at once, on cores of their own.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr std::string_view kCaches[] = {"cache_tensor1", "cache_tensor2"};
constexpr std::string_view kInputs[] = {"input_tensor1", "input_tensor2"};

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const DecodeUpdate first, decode_update(call, kCaches[0], kInputs[0]));
  OPWRIGHT_CHECK_ASSIGN(const DecodeUpdate second, decode_update(call, kCaches[1], kInputs[1]));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_REQUIRE(tiled(*first.input) == tiled(*second.input),
                   "input_tensor1 and input_tensor2 must be either both tiled or both row-major");
  OPWRIGHT_CHECK(check_decode_update(call, first, true));
  OPWRIGHT_CHECK(check_decode_update(call, second, true));
  OPWRIGHT_REQUIRE(tiled(*first.input) || (from_end(padded_shape(*first.input), 1) == 128 &&
                                           from_end(padded_shape(*second.input), 2) == 8),
                   "when input_tensor1 and input_tensor2 are row major, only Llama70b tensor shapes are supported");
  const std::vector<CoreRange>& a = shard_of(*first.input)->grid;
  const std::vector<CoreRange>& b = shard_of(*second.input)->grid;
  OPWRIGHT_REQUIRE(!overlap(a, b), "input_tensor1 ({}) and input_tensor2 ({}) must not overlap", grid_text(a),
                   grid_text(b));
  OPWRIGHT_REQUIRE(core_count(a) == core_count(b),
                   "input_tensor1 ({}) and input_tensor2 ({}) must have same number of cores", grid_text(a),
                   grid_text(b));
  OPWRIGHT_CHECK(check_mesh_coords(call, board));
  std::vector<OutputSpec> outputs = given_back(*first.cache, kCaches[0]);
  outputs.push_back(given_back(*second.cache, kCaches[1]).front());
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto rows, decode_update_rows(job, kCaches[job.output], kInputs[job.output]));
  return cache_exact(job, *job.input(kCaches[job.output]), *job.input(kInputs[job.output]), rows);
}

std::vector<std::int64_t> written(const ReferenceJob& job) {
  return cache_rows(decode_update_rows(job, kCaches[job.output], kInputs[job.output]));
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t output) {
  return cache_budget(call, kCaches[output], kInputs[output]);
}

bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  return fill_decode_update(call, kCaches[0], slot, random, tensor);
}

}  // namespace

const OpSpec& paged_fused_update_cache_op() {
  static const OpSpec spec{.name = "ttnn.experimental.paged_fused_update_cache",
                           .params = {{.name = kCaches[0], .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = kInputs[0], .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = kCaches[1], .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = kInputs[1], .era1 = 3, .required = true, .role = Role::kPlain},
                                      {.name = "update_idxs", .era1 = 4, .lost = Lost::kAssumeNone},
                                      {.name = "update_idxs_tensor", .era1 = 5, .role = Role::kPositions},
                                      {.name = "share_cache", .era1 = 6},
                                      {.name = "page_table", .era1 = 7, .role = Role::kPages},
                                      {.name = "batch_offset", .era1 = 8},
                                      {.name = "compute_kernel_config", .era1 = 9},
                                      {.name = "mesh_coords", .era1 = 10, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill,
                           .written = written};
  return spec;
}

}  // namespace opwright

// ttnn.fill_cache: the positions of one user, cache[batch_idx, :, update_idx …] = input, in place.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board&) {
  OPWRIGHT_CHECK(refuse_none(call, {"batch_idx", "update_idx"}));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const cache, device_tensor(call, "cache_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t user, unsigned_argument(call, "batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t index, unsigned_argument(call, "update_idx", 0));
  OPWRIGHT_CHECK(check_cache_pair(*cache, *input));
  OPWRIGHT_REQUIRE(input->dtype.value == cache->dtype.value, "Input and cache tensors must have same dtype!");
  const Shape c = padded_shape(*cache);
  const std::int64_t height = from_end(padded_shape(*input), 2);
  if (const ShardSpec* shard = sharded(*input) ? shard_of(*input) : nullptr)
    OPWRIGHT_REQUIRE(height % shard->shape[0] == 0, "Seq len must be divisible by shard height!");
  OPWRIGHT_REQUIRE(user < c[0], "Batch index ({}) must be less than cache tensor batch size ({})", user, c[0]);
  OPWRIGHT_REQUIRE(index % 32 == 0, "Fill update_idx ({}) must be a multiple of TILE_HEIGHT (32)", index);
  OPWRIGHT_REQUIRE(index + height <= from_end(c, 2),
                   "Fill update_idx ({}) + input tensor height ({}) must be <= cache tensor height ({})", index, height,
                   from_end(c, 2));
  return given_back(*cache, "cache_tensor");
}

// Whole tiles are copied, the padding of the last one too.
Checked<std::vector<CacheRow>> rows(const ReferenceJob& job) {
  const HostTensor& cache = *job.input("cache_tensor");
  const HostTensor& input = *job.input("input_tensor");
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  if (c.size() != 4 || in.size() != 4)
    return unsupported("cache_tensor", "caches of a rank other than 4 are not modelled");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t user, job.call.integer("batch_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t index, job.call.integer("update_idx", 0));
  std::vector<CacheRow> out;
  for (std::int64_t head = 0; head < c[1]; ++head)
    for (std::int64_t s = 0; s < round_up(in[2], 32) && index + s < c[2]; ++s)
      out.push_back({(user * c[1] + head) * c[2] + index + s, s < in[2] ? head * in[2] + s : -1});
  return settled(std::move(out), cache);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto writes, rows(job));
  return cache_exact(job, *job.input("cache_tensor"), *job.input("input_tensor"), writes);
}

std::vector<std::int64_t> written(const ReferenceJob& job) { return cache_rows(rows(job)); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  return cache_budget(call, "cache_tensor", "input_tensor");
}

}  // namespace

const OpSpec& fill_cache_op() {
  static const OpSpec spec{.name = "ttnn.fill_cache",
                           .params = {{.name = "cache_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "batch_idx", .era1 = 2, .required = true},
                                      {.name = "update_idx", .era1 = 3}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .written = written};
  return spec;
}

}  // namespace opwright

// ttnn.update_cache: one position of each user, cache[user, head, index] = input[0, head, user + offset], in place.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache_rules.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board&) {
  OPWRIGHT_CHECK(refuse_none(call, {"update_idx", "batch_offset"}));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const cache, device_tensor(call, "cache"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const input, device_tensor(call, "input"));
  OPWRIGHT_CHECK(unsigned_argument(call, "update_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t offset, unsigned_argument(call, "batch_offset", 0));
  OPWRIGHT_CHECK(compute_argument(call, {}));
  OPWRIGHT_CHECK(check_cache_pair(*cache, *input));
  if (const ShardSpec* shard = sharded(*input) ? shard_of(*input) : nullptr)
    OPWRIGHT_REQUIRE(physical_shape(*input).height % shard->shape[0] == 0, "Error");
  const std::int64_t users = padded_shape(*cache)[0];
  const std::int64_t height = from_end(padded_shape(*input), 2);
  OPWRIGHT_REQUIRE(users <= height, "Cache tensor batch size ({}) must be <= input tensor height ({})", users, height);
  if (users < 32)
    OPWRIGHT_REQUIRE(offset + users <= 32, "Batch offset ({}) + cache tensor batch size ({}) must be <= 32", offset,
                     users);
  else
    OPWRIGHT_REQUIRE(offset == 0, "Batch offset must be 0 when cache tensor batch size >= 32");
  return given_back(*cache, "cache");
}

Checked<std::vector<CacheRow>> rows(const ReferenceJob& job) {
  const HostTensor& cache = *job.input("cache");
  const HostTensor& input = *job.input("input");
  const Shape& c = cache.spec.shape;
  const Shape& in = input.spec.shape;
  if (c.size() != 4 || in.size() != 4) return unsupported("cache", "caches of a rank other than 4 are not modelled");
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t index, job.call.integer("update_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t offset, job.call.integer("batch_offset", 0));
  std::vector<CacheRow> out;
  for (std::int64_t user = 0; user < c[0] && index < c[2]; ++user)
    for (std::int64_t head = 0; head < c[1]; ++head)
      out.push_back({(user * c[1] + head) * c[2] + index, user + offset < in[2] ? head * in[2] + user + offset : -1});
  return settled(std::move(out), cache);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const auto writes, rows(job));
  return cache_exact(job, *job.input("cache"), *job.input("input"), writes);
}

std::vector<std::int64_t> written(const ReferenceJob& job) { return cache_rows(rows(job)); }

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  return cache_budget(call, "cache", "input");
}

}  // namespace

const OpSpec& update_cache_op() {
  static const OpSpec spec{.name = "ttnn.update_cache",
                           .params = {{.name = "cache", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "input", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "update_idx", .era1 = 2, .required = true},
                                      {.name = "batch_offset", .era1 = 3},
                                      {.name = "compute_kernel_config", .era1 = 4}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .written = written};
  return spec;
}

}  // namespace opwright

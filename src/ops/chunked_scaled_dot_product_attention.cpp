// ttnn.transformer.chunked_scaled_dot_product_attention: a chunk of a sequence against a paged cache of all before it.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/attention_data.h"
#include "ops/shared/attention_prefill.h"
#include "ops/shared/attention_rules.h"
#include "ops/shared/cache.h"
#include "ops/shared/movement.h"

namespace opwright {
namespace {

Checked<void> check_start(const BoundCall& call, const TensorSpec* tensor) {
  OPWRIGHT_REQUIRE(call.passed("chunk_start_idx") || tensor != nullptr,
                   "chunk_start_idx (int) is required for legacy chunked SDPA. For flexible path use "
                   "chunk_start_idx_tensor=...");
  OPWRIGHT_REQUIRE(!call.passed("chunk_start_idx") || tensor == nullptr,
                   "chunked mode accepts only one of chunk_start_idx (scalar) or chunk_start_idx_tensor; both were "
                   "provided");
  if (tensor == nullptr) return {};
  OPWRIGHT_REQUIRE(tensor->dtype.value == DType::kInt32, "chunk_start_idx tensor must be int32. Got {}",
                   dtype_text(*tensor));
  OPWRIGHT_REQUIRE(tensor->shape == Shape{1}, "chunk_start_idx tensor must have shape [1]. Got {}",
                   shape_text(tensor->shape));
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK(refuse_unknown(call, {"paged_cache_geometry"}));
  OPWRIGHT_CHECK_ASSIGN(const Prefill prefill, read_prefill(call));
  OPWRIGHT_CHECK(device_tensor(call, "page_table_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* const tensor, optional_device_tensor(call, "chunk_start_idx_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, call.integer("chunk_start_idx", 0));
  OPWRIGHT_CHECK_ASSIGN(auto outputs, prefill_outputs(call, prefill, board));
  OPWRIGHT_CHECK(check_start(call, tensor));
  OPWRIGHT_CHECK(check_prefill_operands(prefill));
  OPWRIGHT_REQUIRE(start >= 0, "chunk_start_idx must be non-negative");
  const TensorSpec& pages = *prefill.pages;
  OPWRIGHT_REQUIRE(!tiled(pages), "Page table must be row major");
  OPWRIGHT_REQUIRE(pages.dtype.value == DType::kInt32, "Page table must be int32");
  OPWRIGHT_CHECK(require_rank(pages.shape, 2));
  const Shape& q = prefill.q->shape;
  const Shape& k = prefill.k->shape;
  OPWRIGHT_REQUIRE(k[2] == prefill.v->shape[2], "K page size must match V page size. Got K: {}, V: {}", k[2],
                   prefill.v->shape[2]);
  OPWRIGHT_REQUIRE(pages.shape[0] == q[0],
                   "Page table batch size must match input batch size. Got Page table: {}, Input: {}", pages.shape[0],
                   q[0]);
  OPWRIGHT_CHECK(check_prefill_heads(prefill));
  if (prefill.program && tensor == nullptr) {
    OPWRIGHT_REQUIRE(start % prefill.program->q_chunk == 0,
                     "chunk_start_idx must be a multiple of q_chunk_size. Got chunk_start_idx: {}, q_chunk_size: {}",
                     start, prefill.program->q_chunk);
    OPWRIGHT_REQUIRE(start % prefill.program->k_chunk == 0,
                     "chunk_start_idx must be a multiple of k_chunk_size. Got chunk_start_idx: {}, k_chunk_size: {}",
                     start, prefill.program->k_chunk);
  }
  const std::int64_t keys = pages.shape[1] * k[2];
  OPWRIGHT_REQUIRE(keys >= q[2] + start,
                   "K's sequence length must be >= Q's sequence length + chunk_start_idx. Got K: {}, Q: {}, "
                   "chunk_start_idx: {}",
                   keys, q[2], start);
  OPWRIGHT_CHECK(check_prefill_end(prefill, board));
  return outputs;
}

Checked<std::int64_t> start_of(const ReferenceJob& job) {
  const HostTensor* tensor = job.input("chunk_start_idx_tensor");
  if (tensor != nullptr && !tensor->ints.empty()) return tensor->ints[0];
  return job.call.integer("chunk_start_idx", 0);
}

Checked<Exact> reference(const ReferenceJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, start_of(job));
  return prefill_exact(job, start);
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) { return attention_budget(call); }

bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  const std::string& param = call.tensors[slot].param;
  const TensorSpec* keys = call.tensor("input_tensor_k");
  if (keys == nullptr || keys->shape.size() != 4) return false;
  if (param == "page_table_tensor")
    fill_pages(tensor, keys->shape[0], random);
  else if (param == "chunk_start_idx_tensor")
    tensor.ints.assign(static_cast<std::size_t>(tensor.size()), 0);
  else
    return false;
  return true;
}

void arrange(const BoundCall& call, std::span<HostTensor> inputs) {
  arrange_attention(call, inputs, [](const ReferenceJob& job) -> Checked<Attending> {
    OPWRIGHT_CHECK_ASSIGN(const std::int64_t start, start_of(job));
    return prefill_queries(job, start);
  });
}

}  // namespace

const OpSpec& chunked_scaled_dot_product_attention_op() {
  static const OpSpec spec{.name = "ttnn.transformer.chunked_scaled_dot_product_attention",
                           .params = {{.name = "input_tensor_q", .era1 = 0, .required = true, .role = Role::kQueries},
                                      {.name = "input_tensor_k", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "input_tensor_v", .era1 = 2, .required = true, .role = Role::kPlain},
                                      {.name = "page_table_tensor", .era1 = 3, .required = true, .role = Role::kPages},
                                      {.name = "chunk_start_idx", .era1 = 4},
                                      {.name = "chunk_start_idx_tensor", .role = Role::kPositions},
                                      {.name = "scale", .era1 = 5},
                                      {.name = "memory_config", .era1 = 6},
                                      {.name = "program_config", .era1 = 7, .lost = Lost::kAssumeNone},
                                      {.name = "compute_kernel_config", .era1 = 8, .lost = Lost::kAssumeNone},
                                      {.name = "paged_cache_geometry"},
                                      {.name = "sliding_window_size"},
                                      {.name = "attention_sink", .role = Role::kSinks}},
                           .infer = infer,
                           .reference = reference,
                           .budget = budget,
                           .fill = fill,
                           .arrange = arrange,
                           .work = attention_work};
  return spec;
}

}  // namespace opwright

#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"

namespace opwright {
namespace {

Checked<void> require_operands(const TensorSpec& ids, const TensorSpec& weight) {
  OPWRIGHT_REQUIRE(weight.shape.size() <= 4 && ids.shape.size() <= 4, "Tensor rank is greater than 4");
  if (ids.shape.empty()) return refuse("ShapeBase[] index out of range. 0 not in [-4, 0)");
  OPWRIGHT_CHECK(require_on_device(ids));
  OPWRIGHT_CHECK(require_on_device(weight));
  OPWRIGHT_REQUIRE(ids.dtype.value == DType::kUint32 || ids.dtype.value == DType::kBfloat16,
                   "Input must be UINT32 or BFLOAT16");
  OPWRIGHT_REQUIRE(weight.dtype.value == DType::kBfloat16, "Weights tensor must have BFLOAT16 dtype");
  OPWRIGHT_REQUIRE(!sharded(ids), "Embedding does not currently support sharded inputs");
  OPWRIGHT_REQUIRE(!sharded(weight), "Embedding does not currently support sharded weights");
  OPWRIGHT_REQUIRE(last(weight.shape, 4) == 1 && last(weight.shape, 3) == 1,
                   "First two dimensions for the weights must be 1 but got {} and {}", last(weight.shape, 4),
                   last(weight.shape, 3));
  OPWRIGHT_REQUIRE(volume(weight.shape) > 0 || last(weight.shape) > 0,
                   "DataflowBufferSpec 'weights_staging' has num_entries = 0. num_entries must be set to a non-zero "
                   "value.");
  return {};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* ids, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* weight, tensor_argument(call, "weight"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const auto padding, call.integer("padding_idx"));
  OPWRIGHT_CHECK_ASSIGN(const std::string type, call.text("embeddings_type", "GENERIC"));
  if (!type.ends_with("GENERIC") && !type.ends_with("PADDED"))
    return unsupported("embeddings_type", fmt::format("embeddings of type {}", type));
  OPWRIGHT_CHECK_ASSIGN(const Layout layout, call.layout("layout", weight->layout.value));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", weight->dtype.value));
  OPWRIGHT_CHECK(require_operands(*ids, *weight));
  OPWRIGHT_REQUIRE(layout != Layout::kTile || tiled(*ids) || volume(ids->shape) > 0, "DFB 'output' has no producer");
  OPWRIGHT_REQUIRE(layout == Layout::kTile || dtype == weight->dtype.value,
                   "Can only typecast output embeddings when producing TILE_LAYOUT output");
  Shape shape;
  if (ids->shape.size() > 1) shape.push_back(ids->shape[0]);
  shape.push_back(ids->shape.back());
  shape.push_back(last(weight->shape));
  const MemoryConfig memory = asked == nullptr ? memory_of(*ids) : *asked;
  TensorSpec out = moved(*weight, std::move(shape), memory);
  out.placement = ids->placement;
  out.layout.value = layout;
  out.dtype.value = dtype;
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(std::move(out), board));
  if (memory.sharded() && memory.shard) {
    const std::int64_t rows = std::max<std::int64_t>(1, memory.shard->shape[0]);
    OPWRIGHT_REQUIRE(volume(padded_shape(*ids)) % rows == 0,
                     "Input tensor volume {} must be a multiple of shard height {}", volume(padded_shape(*ids)), rows);
  }
  if (call.tensor("output_tensor") != nullptr) outputs[0].alias = "output_tensor";
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& ids = *job.input("input_tensor");
  const HostTensor& weight = *job.input("weight");
  const std::int64_t length = job.rows.length;
  const std::int64_t known = length == 0 ? 0 : weight.size() / length;
  Exact exact;
  exact.value.reserve(static_cast<std::size_t>(job.rows.count() * length));
  for (std::int64_t i = 0; i < job.rows.count(); ++i) {
    const auto id = static_cast<std::int64_t>(ids.at(job.rows.at(i)));
    if (id < 0 || id >= known)
      return refuse(fmt::format("an id of {} is outside the {} rows of the weight", id, known), "input_tensor");
    append_elements(weight, id * length, length, 1, exact.value);
  }
  return exact;
}

// Ids within the vocabulary. BFLOAT16 ones are exact up to 256 only.
bool fill(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  const TensorSpec* weight = call.tensor("weight");
  if (call.tensors[slot].param != "input_tensor" || weight == nullptr || weight->shape.empty()) return false;
  const std::int64_t rows = last(weight->shape, 2);
  const auto count = static_cast<std::size_t>(tensor.size());
  if (tensor.integer()) {
    tensor.ints.resize(count);
    for (std::int64_t& id : tensor.ints) id = random.below(rows);
    if (count > 1) tensor.ints.front() = rows - 1;
    if (count > 1) tensor.ints.back() = 0;
  } else {
    tensor.floats.resize(count);
    for (float& id : tensor.floats) id = static_cast<float>(random.below(std::min<std::int64_t>(rows, 256)));
  }
  return true;
}

}  // namespace

const OpSpec& embedding_op() {
  static const OpSpec spec{.name = "ttnn.embedding",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kTokenIds},
                                      {.name = "weight", .era1 = 1, .required = true, .role = Role::kPlain},
                                      {.name = "padding_idx", .era1 = 2},
                                      {.name = "layout", .era1 = 3},
                                      {.name = "embeddings_type", .era1 = 4, .lost = Lost::kAssumeNone},
                                      {.name = "dtype", .era1 = 5},
                                      {.name = "memory_config", .era1 = 6},
                                      {.name = "output_tensor", .era1 = 7, .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget,
                           .fill = fill,
                           .reads_part = true};
  return spec;
}

}  // namespace opwright

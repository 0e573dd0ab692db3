#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_shards.h"

namespace opwright {
namespace {

// Both as long as the longer one, filled with ones in front.
Checked<void> same_rank(const BoundCall& call, Shape& shape, Shape& times) {
  OPWRIGHT_CHECK_ASSIGN(times, sizes_argument(call, "repeat_dims"));
  const std::size_t rank = std::max(shape.size(), times.size());
  shape.insert(shape.begin(), rank - shape.size(), 1);
  times.insert(times.begin(), rank - times.size(), 1);
  return {};
}

// Where the output lies when nobody says: shards that hold all of what is repeated grow with it, others are made anew.
MemoryConfig repeated_memory(const TensorSpec& input, const Shape& from, const Shape& times, const Shape& shape,
                             const Board& board) {
  const MemoryConfig own = memory_of(input);
  if (!own.sharded() || !own.shard || own.shard->shape.size() != 2) return own;
  const Shape padded_from = padded_shape(from, input.layout.value);
  const Shape padded_to = padded_shape(shape, input.layout.value);
  const std::int64_t step = tiled(input) ? 32 : 1;
  if (volume(padded_to) == 0 || last(padded_to) * element_bytes(input.dtype.value) % board.l1_alignment != 0)
    return interleaved(own.buffer.value);
  bool whole = own.layout.value != MemoryLayout::kWidthSharded || !tiled(input);
  std::int64_t rows = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    const bool width = i + 1 == from.size();
    if (!width) rows *= padded_from[i];
    if (times[i] == 1) continue;
    const std::int64_t held = own.shard->shape[width ? 1 : 0];
    whole = whole && held % std::max<std::int64_t>(1, width ? padded_from[i] : rows) == 0;
  }
  const auto scaled = scaled_shard(*own.shard, padded_from, padded_to);
  if (whole && scaled) return with_shard(own, *scaled);
  return with_shard(own, fresh_shard(board, padded_to, own.layout.value, own.shard->orientation.value, step));
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  Shape from = input->shape;
  Shape times;
  OPWRIGHT_CHECK(same_rank(call, from, times));
  OPWRIGHT_CHECK(require_on_device(*input));
  Shape shape = from;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (times[i] > 0 && shape[i] > (std::int64_t{1} << 40) / times[i])
      return refuse_memory("a repeated dimension does not fit into any device");
    shape[i] *= times[i];
  }
  const MemoryConfig memory = asked == nullptr ? repeated_memory(*input, from, times, shape, board)
                                               : completed(*asked, *input, padded_shape(*input),
                                                           padded_shape(shape, input->layout.value), board);
  OPWRIGHT_CHECK_ASSIGN(std::vector<OutputSpec> outputs, made(moved(*input, std::move(shape), memory), board));
  if (call.tensor("optional_output_tensor") != nullptr) outputs[0].alias = "optional_output_tensor";
  return outputs;
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  Shape from = input.spec.shape;
  Shape times;
  OPWRIGHT_CHECK(same_rank(job.call, from, times));
  const Shape strides = strides_of(from);
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < index.size(); ++i) start += index[i] % from[i] * strides[i];
    const std::int64_t width = from.empty() ? 1 : from.back();
    for (std::int64_t i = 0; i < (times.empty() ? 1 : times.back()); ++i) append_elements(input, start, width, 1, out);
  });
}

}  // namespace

const OpSpec& repeat_op() {
  static const OpSpec spec{.name = "ttnn.repeat",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "repeat_dims", .era1 = 1, .required = true},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "optional_output_tensor", .role = Role::kBuffer}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright

#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const Shape end, sizes_argument(call, "output_tensor_end"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool multicore, call.flag("use_multicore", true));
  OPWRIGHT_CHECK(require_on_device(*input));
  const std::size_t rank = input->shape.size();
  OPWRIGHT_REQUIRE(end.size() >= rank, "ShapeBase[] index out of range. {} not in [-4, {})", end.size(), end.size());
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(end[i] + 1);
  OPWRIGHT_REQUIRE(volume(input->shape) != 0 || volume(shape) == 0,
                   "untilize_with_unpadding: a zero-volume input requires a zero-volume output, got {}",
                   shape_text(shape));
  OPWRIGHT_REQUIRE(tiled(*input), "Can only untilize tile major data");
  OPWRIGHT_CHECK_ASSIGN(MemoryConfig memory, rows_memory(*input, asked, shape));
  const MemoryConfig own = memory_of(*input);
  if (own.layout.value == MemoryLayout::kWidthSharded && own.shard && memory.sharded())
    OPWRIGHT_REQUIRE(
        last(padded_shape(*input)) == last(shape) ||
            div_up(last(shape), std::max<std::int64_t>(1, own.shard->shape[1])) == core_count(own.shard->grid),
        "Input tensor width ({}) must equal output width ({}) or output width / shard width must equal num "
        "cores",
        last(padded_shape(*input)), last(shape));
  TensorSpec out = moved(*input, std::move(shape), std::move(memory));
  out.layout.value = Layout::kRowMajor;
  out.dtype.value = row_dtype(input->dtype.value);
  return made(std::move(out), board);
}

// Rows and columns beyond the tensor are its padding: zero.
Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Shape strides = strides_of(input.spec.shape);
  const std::int64_t width = std::min(job.rows.length, last(input.spec.shape));
  return rows_of(job, [&](const Shape& index, std::vector<double>& out) {
    std::int64_t start = 0;
    bool inside = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      inside = inside && index[i] < input.spec.shape[i];
      start += index[i] * strides[i];
    }
    if (inside) append_elements(input, start, width, 1, out);
    out.insert(out.end(), static_cast<std::size_t>(inside ? job.rows.length - width : job.rows.length), 0.0);
  });
}

}  // namespace

const OpSpec& untilize_with_unpadding_op() {
  static const OpSpec spec{.name = "ttnn.untilize_with_unpadding",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "output_tensor_end", .era1 = 1, .required = true},
                                      {.name = "memory_config", .era1 = 2},
                                      {.name = "use_multicore", .era1 = 3},
                                      {.name = "use_pack_untilize", .era1 = 4, .lost = Lost::kNoMatter},
                                      {.name = "sub_core_grids", .era1 = 5, .lost = Lost::kNoMatter}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright

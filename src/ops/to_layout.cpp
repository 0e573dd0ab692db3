#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_tiles.h"

namespace opwright {
namespace {

Checked<std::vector<OutputSpec>> to_rows(const BoundCall& call, const TensorSpec& input, const MemoryConfig* asked,
                                         const Board& board) {
  const DType own = input.dtype.value;
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", own));
  OPWRIGHT_REQUIRE(dtype == own || (own == DType::kBfloat8B && dtype == DType::kBfloat16),
                   "dtype cannot be different from tensor dtype when converting to ROW_MAJOR_LAYOUT on device (allowed "
                   "exception: BFLOAT8_B -> BFLOAT16, which untilize handles natively)!");
  const bool whole = padded_shape(input) == input.shape;
  MemoryConfig memory = asked == nullptr ? memory_of(input) : *asked;
  if (!whole) {
    OPWRIGHT_REQUIRE(
        memory_of(input).layout.value != MemoryLayout::kHeightSharded || in_l1(memory_of(input)),
        "DFB 'sh_in' borrows memory from TensorParameter 'sh_input', but its TensorSpec is not L1-resident "
        "(L1 is required).");
    OPWRIGHT_CHECK_ASSIGN(memory, rows_memory(input, asked, input.shape));
  }
  TensorSpec out = moved(input, input.shape, std::move(memory));
  out.layout.value = Layout::kRowMajor;
  out.dtype.value = row_dtype(own);
  return made(std::move(out), board);
}

Checked<std::vector<OutputSpec>> to_tiles(const BoundCall& call, const TensorSpec& input, const MemoryConfig* asked,
                                          const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, dtype_argument(call, "dtype", input.dtype.value));
  const Shape padded = padded_shape(input.shape, Layout::kTile);
  const MemoryConfig memory = asked == nullptr ? memory_of(input) : *asked;
  if (padded != input.shape && volume(padded) > 0) {
    OPWRIGHT_CHECK_ASSIGN(OutputSpec out, padded_tiles(input, padded, memory, dtype, board));
    return std::vector{std::move(out)};
  }
  TensorSpec out = moved(input, input.shape, tiles_memory(input, memory, padded));
  out.layout.value = Layout::kTile;
  out.dtype.value = dtype;
  return made(std::move(out), board);
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "tensor"));
  if (call.convention == Convention::kPython && call.find("layout")->as_enum() == nullptr)
    return type_error(call.op, "layout", *call.find("layout"));
  OPWRIGHT_CHECK_ASSIGN(const Layout layout, call.layout("layout", Layout::kTile));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double pad, call.number("pad_value", 0));
  if (layout == input->layout.value) return given_back(*input, "tensor");
  if (on_host(*input)) {
    TensorSpec out = moved(*input, input->shape, memory_of(*input));
    out.storage = input->storage;
    out.layout.value = layout;
    if (asked != nullptr) {
      TensorSpec placed = out;
      placed.memory = *asked;
      OPWRIGHT_CHECK(check_tensor(placed, board));
    }
    return made(std::move(out), board);
  }
  OPWRIGHT_CHECK(require_on_device(*input));
  return layout == Layout::kTile ? to_tiles(call, *input, asked, board) : to_rows(call, *input, asked, board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("tensor");
  return converted(same_elements(job, input), input.spec.dtype.value, job.outputs[job.output].spec.dtype.value);
}

}  // namespace

const OpSpec& to_layout_op() {
  static const OpSpec spec{.name = "ttnn.to_layout",
                           .params = {{.name = "tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "layout", .era1 = 1, .required = true},
                                      {.name = "dtype", .era1 = 2},
                                      {.name = "memory_config", .era1 = 3},
                                      {.name = "sub_core_grids", .era1 = 4, .lost = Lost::kNoMatter},
                                      {.name = "pad_value"}},
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright

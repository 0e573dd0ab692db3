#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shared/movement.h"
#include "ops/shared/movement_exposed.h"
#include "ops/shared/movement_reference.h"
#include "ops/shared/movement_reshape.h"

namespace opwright {
namespace {

// C++ has two forms: (x, shape, memory_config, pad_value, mode, cores) and (x, logical, padded, memory_config, …). The
// table speaks of the second.
Checked<void> rebind(BoundCall& call) {
  if (call.passed("logical_shape")) {
    call.set("shape", *call.find("logical_shape"));
    call.erase("logical_shape");
  }
  const Value* third = call.find("padded_shape");
  if (call.convention != Convention::kCpp || third == nullptr) return {};
  if (!third->is_null() && third->as_memory() == nullptr) return {};
  const Value memory = *third;
  for (const std::string_view name : {"padded_shape", "memory_config", "pad_value", "reshape_tile_mode"})
    call.erase(name);
  call.set("memory_config", memory);
  return {};
}

bool is_shape_object(const BoundCall& call) {
  return call.convention == Convention::kCpp || call.find("shape")->as_struct() != nullptr;
}

// The one dimension that may be -1 takes what the others leave.
Checked<Shape> completed(const BoundCall& call, const TensorSpec& input, Shape shape) {
  const auto open = std::ranges::count(shape, -1);
  OPWRIGHT_REQUIRE(open <= 1, "Shape cannot have more than 1 elements that is set to -1! Shape used: ({},)",
                   fmt::join(shape, ","));
  std::int64_t known = 1;
  for (const std::int64_t n : shape) {
    if (n < -1 || n > (std::int64_t{1} << 40)) return refuse("Invalid arguments to reshape");
    if (n != -1 && n != 0 && known > (std::int64_t{1} << 40) / n) return refuse("Invalid arguments to reshape");
    if (n != -1) known *= n;
  }
  const std::int64_t total = volume(input.shape);
  if (open == 1) {
    OPWRIGHT_REQUIRE(known != 0,
                     "cannot reshape tensor of 0 elements into shape ({},) because the unspecified dimension size -1 "
                     "can be any value and is ambiguous",
                     fmt::join(shape, ","));
    if (total % known != 0) return refuse("Invalid arguments to reshape");
    std::ranges::replace(shape, -1, total / known);
  } else if (known != total && !call.passed("padded_shape") && !is_shape_object(call)) {
    return refuse("Invalid arguments to reshape");
  }
  return shape;
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const Shape written, list_argument(call, "shape"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* memory, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const bool skip, call.flag("skip_padding_fill", false));
  OPWRIGHT_CHECK_ASSIGN([[maybe_unused]] const double pad, call.number("pad_value", 0));
  OPWRIGHT_CHECK(require_allocated(*input));
  Reshape asked{.memory = memory};
  OPWRIGHT_CHECK_ASSIGN(asked.shape, completed(call, *input, written));
  if (call.passed("padded_shape")) {
    OPWRIGHT_CHECK_ASSIGN(asked.padded, sizes_argument(call, "padded_shape"));
  }
  OPWRIGHT_CHECK_ASSIGN(OutputSpec output, reshape_output(*input, asked, board));
  return std::vector{std::move(output)};
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const bool same_volume = volume(job.outputs[job.output].spec.shape) == input.size();
  return same_volume ? same_elements(job, input) : exposed_elements(job, input);
}

}  // namespace

const OpSpec& reshape_op() {
  static const OpSpec spec{.name = "ttnn.reshape",
                           .params = {{.name = "input_tensor", .era1 = 0, .required = true, .role = Role::kPlain},
                                      {.name = "shape", .era1 = 1, .required = true, .place = 1},
                                      {.name = "padded_shape", .era1 = 2, .place = 2},
                                      {.name = "memory_config", .era1 = 3, .lost = Lost::kAssumeNone},
                                      {.name = "pad_value", .era1 = 4, .lost = Lost::kNoMatter},
                                      {.name = "reshape_tile_mode", .era1 = 5, .lost = Lost::kNoMatter},
                                      {.name = "sub_core_grids", .era1 = 6, .lost = Lost::kNoMatter},
                                      {.name = "skip_padding_fill"},
                                      {.name = "logical_shape"}},
                           .rebind = rebind,
                           .infer = infer,
                           .reference = reference,
                           .budget = exact_budget};
  return spec;
}

}  // namespace opwright

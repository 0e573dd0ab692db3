#include <fmt/format.h>

#include <algorithm>

#include "model/host_tensor.h"
#include "model/tensor_facts.h"
#include "ops/shared/movement.h"
#include "ops/shared/reduce_rules.h"

namespace opwright {
namespace {

// Height, width and channels count from the end; a matrix has one channel.
struct Pixels {
  std::int64_t batch = 1;
  std::int64_t count = 1;
  std::int64_t channels = 1;
};

Pixels pixels_of(const Shape& shape) {
  const std::size_t rank = shape.size();
  if (rank == 2) return {1, shape[0] * shape[1], 1};
  return {rank == 4 ? shape[0] : 1, shape[rank - 3] * shape[rank - 2], shape[rank - 1]};
}

Checked<std::vector<OutputSpec>> infer(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const TensorSpec* input, tensor_argument(call, "input_tensor"));
  OPWRIGHT_CHECK_ASSIGN(const MemoryConfig* asked, memory_argument(call, "memory_config"));
  OPWRIGHT_CHECK(call.dtype("dtype", DType::kBfloat16));
  const std::size_t rank = input->shape.size();
  OPWRIGHT_REQUIRE(rank >= 2 && rank <= 4, "global_avg_pool2d expects rank 2, 3, or 4 input, got rank {}", rank);
  OPWRIGHT_REQUIRE(!deallocated(*input), "Tensor is not allocated");
  OPWRIGHT_REQUIRE(!on_host(*input), "Expected input tensor to be on device");
  const DType dtype = input->dtype.value;
  OPWRIGHT_REQUIRE(dtype != DType::kUint8, "Can only work with bfloat16/float32 or int32/uint32 tensors");
  OPWRIGHT_REQUIRE(dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kBfloat8B ||
                       dtype == DType::kUint32 || dtype == DType::kInt32,
                   "Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic reduction (INT32 is "
                   "supported for MAX/MIN/SUM) - got DataType::{}.",
                   name_of(dtype));
  const Pixels pixels = pixels_of(input->shape);
  OPWRIGHT_REQUIRE(pixels.batch > 0, "global_avg_pool2d needs at least one image, got {}", shape_text(input->shape));
  const BufferType buffer = asked == nullptr ? memory_of(*input).buffer.value : asked->buffer.value;
  TensorSpec out = moved(*input, {pixels.batch, 1, 1, pixels.channels}, interleaved(buffer));
  out.layout.value = Layout::kTile;
  return made(std::move(out), board);
}

Checked<Exact> reference(const ReferenceJob& job) {
  const HostTensor& input = *job.input("input_tensor");
  const Pixels pixels = pixels_of(input.spec.shape);
  Exact exact;
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    const std::int64_t base = job.rows.at(r) * pixels.count * pixels.channels;
    for (std::int64_t c = 0; c < pixels.channels; ++c) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t i = 0; i < pixels.count; ++i) {
        const double value = input.at(base + i * pixels.channels + c);
        sum += value;
        magnitude += value < 0 ? -value : value;
      }
      exact.value.push_back(sum / static_cast<double>(pixels.count));
      exact.magnitude.push_back(magnitude / static_cast<double>(pixels.count));
    }
  }
  return exact;
}

ErrorBudget budget(const BoundCall& call, std::span<const OutputSpec>, std::size_t) {
  const TensorSpec* input = call.tensor("input_tensor");
  const std::int64_t count = input == nullptr ? 1 : pixels_of(input->shape).count;
  ErrorBudget out = sum_budget(count);
  out.common = rounding_of_factor(1 / static_cast<double>(std::max<std::int64_t>(count, 1)));
  out.why = "mean of an image; its divisor is a bfloat16 value";
  return out;
}

}  // namespace

const OpSpec& global_avg_pool2d_op() {
  static const OpSpec spec{
      .name = "ttnn.global_avg_pool2d",
      .params = {{.name = "input_tensor", .era1 = 0, .required = true, .place = 0, .role = Role::kPlain},
                 {.name = "memory_config", .era1 = 1},
                 {.name = "dtype", .era1 = 2}},
      .infer = infer,
      .reference = reference,
      .budget = budget,
  };
  return spec;
}

}  // namespace opwright

#include "ops/shared/conv_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/ttnn/conv_shards.h"
#include "model/host_tensor.h"
#include "ops/shared/activation.h"
#include "ops/shared/conv_call.h"
#include "ops/shared/slice_config.h"
#include "ops/shared/stored_values.h"

namespace opwright {
namespace {

bool deallocated(const TensorSpec& spec) {
  return std::ranges::any_of(spec.more, [](const auto& field) {
    const bool* flag = field.second.as_bool();
    return field.first == "deallocated" && flag != nullptr && *flag;
  });
}

Checked<void> check_input(const ConvCall& conv) {
  OPWRIGHT_REQUIRE(!deallocated(*conv.input), "Input Tensor is not allocated");
  OPWRIGHT_REQUIRE(!conv.input->shape.empty(), "ShapeBase[] index out of range. 3 not in [-4, 0)");
  const Window& w = conv.window;
  OPWRIGHT_REQUIRE(volume(conv.input->shape) != 0, "Tensor volume is 0, but shape's volume is not");
  OPWRIGHT_REQUIRE(volume(conv.input->shape) == w.batch * w.height * w.width * conv.pixel_stride,
                   "Attempting to reshape between two shapes with different volumes");
  return {};
}

Checked<void> check_weights(const BoundCall& call, const ConvCall& conv) {
  const TensorSpec& weight = *conv.weight;
  OPWRIGHT_REQUIRE(!deallocated(weight), "Input Tensor is not allocated");
  OPWRIGHT_REQUIRE(!is_integer(weight.dtype.value), "Unsupported data type");
  if (!conv.prepared) {
    OPWRIGHT_REQUIRE(weight.layout.value != Layout::kTile, "Host conv weights layout should be in row_major layout");
    // One-dimensional convolutions hand their three dimensions down to the C++ function.
    OPWRIGHT_REQUIRE(weight.shape.size() == 4 || (weight.shape.size() == 3 && call.convention == Convention::kCpp),
                     "Host conv weights should be 4D tensor");
    const std::int64_t tiles = div_up(weight.shape[0], 32);
    OPWRIGHT_REQUIRE(tiles <= div_up(conv.out_channels, 32),
                     "weight_matrix_width_ntiles {} should be divisible by weight_block_w_ntiles {}", tiles,
                     div_up(conv.out_channels, 32));
  }
  if (conv.bias == nullptr) return {};
  const TensorSpec& bias = *conv.bias;
  OPWRIGHT_REQUIRE(!deallocated(bias), "Input Tensor is not allocated");
  OPWRIGHT_REQUIRE(bias.storage.value != StorageType::kHost || bias.layout.value != Layout::kTile,
                   "Host conv bias layout should be in row_major layout");
  OPWRIGHT_REQUIRE(bias.shape.size() == 4, "ShapeBase[] index out of range. 3 not in [-4, {})", bias.shape.size());
  OPWRIGHT_REQUIRE(bias.shape[3] == conv.out_channels, "Bias must have the same length as output channels");
  return {};
}

MemoryConfig interleaved(BufferType buffer) {
  MemoryConfig out;
  out.layout.value = MemoryLayout::kInterleaved;
  out.buffer.value = buffer;
  return out;
}

Checked<MemoryConfig> output_memory(const BoundCall& call, const ConvCall& conv, Slicing slicing, DType dtype,
                                    const Board& board) {
  const MemoryConfig input = conv.input->memory.value_or(interleaved(BufferType::kDram));
  const bool host = conv.input->storage.value == StorageType::kHost;
  const bool in_dram = host || input.buffer.value != BufferType::kL1;
  const MemoryConfig* wanted = call.memory("memory_config");
  const bool matmul = conv.pointwise();
  if (in_dram && !host)
    OPWRIGHT_REQUIRE(!input.sharded(), "Input Tensor to Conv DRAM should be in Interleaved Memory Layout");
  // Slices go from DRAM to DRAM; a product takes its operand from there as it is.
  if (in_dram && !matmul && slicing == Slicing::kLibrarys) return interleaved(BufferType::kDram);
  if (!input.sharded() && matmul && !conv.config.shard_layout)
    return wanted != nullptr ? *wanted : interleaved(BufferType::kDram);
  if (wanted != nullptr && !(wanted->sharded() && !wanted->shard)) return *wanted;
  const bool wide = input.layout.value == MemoryLayout::kWidthSharded;
  OPWRIGHT_REQUIRE(
      !(matmul && wide) || call.convention == Convention::kCpp,
      "MatmulMultiCoreReuseMultiCastProgramConfig: Unsupported memory layout TensorMemoryLayout::WIDTH_SHARDED.");
  OPWRIGHT_CHECK_ASSIGN(const Spread in, conv_spread(shape_of(conv), dtype, board));
  return memory_of(output_spread(in, conv.out_channels, matmul, board), conv.window.pixels(), conv.out_channels);
}

OutputSpec prepared(Shape shape, DType dtype) {
  TensorSpec out;
  out.shape = std::move(shape);
  out.has_shape = true;
  out.dtype.value = dtype;
  out.layout.value = Layout::kTile;
  out.storage.value = StorageType::kDevice;
  out.memory = interleaved(BufferType::kDram);
  out.more.emplace_back("own_form", Value(true));
  return output_spec(std::move(out));
}

// What a later call takes instead of the weights and the bias of this one, as the device got them: all channels, zeros
// between groups. What was prepared before comes back as it is.
void add_weights(const ConvCall& conv, std::vector<OutputSpec>& outputs) {
  const std::int64_t rows = conv.window.kernel_h * conv.window.kernel_w * conv.in_channels;
  outputs.push_back(prepared(conv.prepared ? conv.weight->shape : Shape{1, 1, rows, conv.out_channels},
                             conv.prepared ? conv.weight->dtype.value : conv.weight_dtype));
  if (conv.bias == nullptr) return;
  const bool as_it_is = conv.bias->storage.value != StorageType::kHost && conv.bias->layout.value == Layout::kTile;
  outputs.push_back(as_it_is ? prepared(conv.bias->shape, conv.bias->dtype.value)
                             : prepared({1, 1, 1, conv.out_channels}, conv.weight_dtype));
}

}  // namespace

Checked<std::vector<OutputSpec>> infer_conv(const BoundCall& call, const Board& board) {
  OPWRIGHT_CHECK_ASSIGN(const ConvCall conv, conv_call(call));
  OPWRIGHT_CHECK_ASSIGN(const DType dtype, conv_dtype(call));
  OPWRIGHT_CHECK(exact_activations(&conv.config.activation, "conv_config"));
  OPWRIGHT_CHECK_ASSIGN(const Slicing slicing, slicing_of(call, "slice_config"));
  if (slicing == Slicing::kCallers) return unsupported("slice_config", "convolutions in slices of the caller's own");
  OPWRIGHT_CHECK(call.flag("return_output_dim", false));
  OPWRIGHT_CHECK_ASSIGN(const bool with_weights, call.flag("return_weights_and_bias", false));
  OPWRIGHT_CHECK(check_input(conv));
  OPWRIGHT_CHECK(check_weights(call, conv));
  OPWRIGHT_REQUIRE(!(conv.config.row_major_out && dtype == DType::kBfloat8B),
                   "Conv output can't be in Row Major if output dtype is BFloat8_B.");
  OPWRIGHT_CHECK_ASSIGN(MemoryConfig memory, output_memory(call, conv, slicing, dtype, board));
  TensorSpec out;
  out.shape = {1, 1, conv.window.pixels(), conv.out_channels};
  out.has_shape = true;
  out.dtype.value = dtype;
  out.layout.value = conv.config.row_major_out && memory.sharded() ? Layout::kRowMajor : Layout::kTile;
  out.storage.value = StorageType::kDevice;
  out.memory = std::move(memory);
  OPWRIGHT_CHECK(check_tensor(out, board));
  OutputSpec spec = output_spec(std::move(out));
  // Channels are written in whole tiles, whatever the layout.
  spec.padded = {1, 1, round_up(conv.window.pixels(), 32), round_up(conv.out_channels, 32)};
  std::vector<OutputSpec> outputs{std::move(spec)};
  if (with_weights) add_weights(conv, outputs);
  return outputs;
}

bool fill_conv(const BoundCall& call, std::size_t slot, Random& random, HostTensor& tensor) {
  if (slot >= call.tensors.size() || call.tensors[slot].param != "weight_tensor") return false;
  const auto conv = conv_call(call);
  if (!conv || !conv->prepared || conv->groups == 1 || tensor.integer()) return false;
  const std::int64_t columns = tensor.spec.shape.back();
  const std::int64_t in = std::max<std::int64_t>(1, conv->in_channels / conv->groups);
  const std::int64_t out = std::max<std::int64_t>(1, conv->out_channels / conv->groups);
  tensor.floats.clear();
  std::vector<double> line(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < tensor.spec.shape[2]; ++row) {
    for (std::int64_t column = 0; column < columns; ++column)
      line[static_cast<std::size_t>(column)] = row % conv->weight_channels / in == column / out
                                                   ? static_cast<double>(static_cast<float>(random.normal()))
                                                   : 0.0;
    as_stored(line, tensor.spec.dtype.value);
    for (const double value : line) tensor.floats.push_back(static_cast<float>(value));
  }
  return true;
}

double conv_work(const BoundCall& call) {
  const auto conv = conv_call(call);
  if (!conv) return 0.0;
  return static_cast<double>(conv->window.kernel_h * conv->window.kernel_w * conv->weight_channels) *
         static_cast<double>(conv->out_channels);
}

}  // namespace opwright

#include "model/conv_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantize.h"

namespace opwright {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // of any size, so that products stay within 64 bits

std::string_view word_of(const Value& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const Enum* e = value.as_enum()) return e->name;
  return {};
}

std::int64_t number_of(const Value& value, std::int64_t otherwise) {
  if (const std::int64_t* i = value.as_int()) return *i;
  if (const bool* b = value.as_bool()) return *b ? 1 : 0;
  const std::string_view word = word_of(value);
  if (word == "True" || word == "true") return 1;
  if (word == "False" || word == "false") return 0;
  return otherwise;
}

Checked<std::int64_t> size_of(const BoundCall& call, std::string_view param, std::int64_t lowest) {
  OPWRIGHT_CHECK_ASSIGN(const auto read, call.integer(param));
  if (!read)
    return refuse(fmt::format("{}(): incompatible function arguments: {} is missing", call.op, param),
                  std::string(param));
  if (*read < lowest || *read >= kLargest)
    return refuse(fmt::format("{} must be at least {}, got {}", param, lowest, *read), std::string(param));
  return *read;
}

Checked<Shape> pair_of(const BoundCall& call, std::string_view param, Shape otherwise, std::int64_t lowest,
                       bool four = false) {
  OPWRIGHT_CHECK_ASSIGN(const auto read, call.ints(param));
  if (!read) return otherwise;
  Shape out = *read;
  if (out.size() == 1 && call.find(param)->as_list() == nullptr) out.push_back(out[0]);
  if (out.size() != 2 && !(four && out.size() == 4)) return type_error(call.op, param, *call.find(param));
  for (const std::int64_t n : out)
    if (n < lowest || n >= kLargest)
      return refuse(lowest == 0 ? fmt::format("{} must not be negative, got ({})", param, n)
                                : fmt::format("{} must be greater than 0, got ({}, {})", param, out[0], out[1]),
                    std::string(param));
  return out;
}

Checked<std::int64_t> windows(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                              std::int64_t after, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t room = size + before + after - span;
  if (room < 0)
    return refuse(fmt::format("a window of {} does not fit into {} with padding {} and {}", span, size, before, after),
                  "kernel_size");
  std::int64_t out = room / stride + 1;
  // The last window may begin inside the image and end outside of it.
  if (ceil_mode && room % stride != 0 && out * stride < size + before) ++out;
  return out;
}

Checked<void> read_config(const BoundCall& call, ConvCall& conv) {
  if (!call.passed("conv_config")) return {};
  const Value& value = *call.find("conv_config");
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) fields = &s->fields;
  if (fields == nullptr) return type_error(call.op, "conv_config", value);
  for (const auto& [name, field] : *fields) {
    if (field.is_null()) continue;
    if (name == "weights_dtype") {
      const auto dtype = parse_dtype(word_of(field));
      if (dtype.value == DType::kUnknown || dtype.value == DType::kAbsent)
        return unsupported("conv_config.weights_dtype", fmt::format("dtype {}", to_text(field)));
      conv.weight_dtype = dtype.value;
    } else if (name == "shard_layout") {
      conv.shard_layout = parse_memory_layout(word_of(field)).value;
    } else if (name == "act_block_h_override") {
      conv.block_height = number_of(field, 0);
    } else if (name == "transpose_shards") {
      conv.transpose_shards = number_of(field, 0) != 0;
    } else if (name == "output_layout") {
      conv.row_major_out = parse_layout(word_of(field)).value == Layout::kRowMajor;
    } else if (name == "activation") {
      if (word_of(field) != "") conv.activation = field;
      if (field.as_struct() != nullptr) conv.activation = field;
    } else if (name == "override_sharding_config" || name == "core_grid" || name == "override_output_sharding_config") {
      if (name == "core_grid" || number_of(field, 1) != 0)
        return unsupported(fmt::format("conv_config.{}", name), "shards on cores of the caller's choice");
    }
  }
  return {};
}

}  // namespace

Checked<Window> window_of(const BoundCall& call, std::string_view height, std::string_view width, bool ceil_mode) {
  Window w;
  OPWRIGHT_CHECK_ASSIGN(w.batch, size_of(call, "batch_size", 1));
  OPWRIGHT_CHECK_ASSIGN(w.height, size_of(call, height, 1));
  OPWRIGHT_CHECK_ASSIGN(w.width, size_of(call, width, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape kernel, pair_of(call, "kernel_size", {1, 1}, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape stride, pair_of(call, "stride", {1, 1}, 1));
  OPWRIGHT_CHECK_ASSIGN(const Shape padding, pair_of(call, "padding", {0, 0}, 0, true));
  OPWRIGHT_CHECK_ASSIGN(const Shape dilation, pair_of(call, "dilation", {1, 1}, 1));
  w.kernel_h = kernel[0];
  w.kernel_w = kernel[1];
  w.stride_h = stride[0];
  w.stride_w = stride[1];
  const bool four = padding.size() == 4;
  w.top = padding[0];
  w.bottom = padding[four ? 1 : 0];
  w.left = padding[four ? 2 : 1];
  w.right = padding[four ? 3 : 1];
  w.dilation_h = dilation[0];
  w.dilation_w = dilation[1];
  OPWRIGHT_CHECK_ASSIGN(w.out_height,
                        windows(w.height, w.kernel_h, w.stride_h, w.top, w.bottom, w.dilation_h, ceil_mode));
  OPWRIGHT_CHECK_ASSIGN(w.out_width,
                        windows(w.width, w.kernel_w, w.stride_w, w.left, w.right, w.dilation_w, ceil_mode));
  return w;
}

bool ConvCall::pointwise() const {
  return window.kernel_h == 1 && window.kernel_w == 1 && window.stride_h == 1 && window.stride_w == 1 &&
         window.top + window.bottom + window.left + window.right == 0 &&
         shard_layout != std::optional(MemoryLayout::kWidthSharded);
}

Checked<ConvCall> conv_call(const BoundCall& call) {
  ConvCall conv;
  conv.input = call.tensor("input_tensor");
  conv.weight = call.tensor("weight_tensor");
  conv.bias = call.tensor("bias_tensor");
  for (const auto& [param, tensor] : {std::pair{"input_tensor", conv.input}, std::pair{"weight_tensor", conv.weight}})
    if (tensor == nullptr) return type_error(call.op, param, call.find(param) == nullptr ? Value() : *call.find(param));
  OPWRIGHT_CHECK_ASSIGN(conv.window, window_of(call, "input_height", "input_width"));
  OPWRIGHT_CHECK_ASSIGN(conv.in_channels, size_of(call, "in_channels", 1));
  conv.pixel_stride = conv.in_channels;
  // Models that align their channels by hand passed the number before that.
  const Shape& image = conv.input->shape;
  if (call.convention == Convention::kCpp && !image.empty() && image.back() > conv.in_channels &&
      volume(image) == conv.window.batch * conv.window.height * conv.window.width * image.back())
    conv.pixel_stride = image.back();
  OPWRIGHT_CHECK_ASSIGN(conv.out_channels, size_of(call, "out_channels", 1));
  OPWRIGHT_CHECK_ASSIGN(conv.groups, call.integer("groups", 1));
  if (conv.groups < 1 || conv.groups > conv.in_channels)
    return refuse(fmt::format("groups must be between 1 and {} in_channels, got {}", conv.in_channels, conv.groups),
                  "groups");
  const std::int64_t taps = conv.window.kernel_h * conv.window.kernel_w;
  const Shape& w = conv.weight->shape;
  conv.prepared = w.size() == 4 && w[0] == 1 && w[1] == 1 && w[2] > 1 && w[2] % taps == 0 && w[2] / taps > 0 &&
                  !(conv.out_channels == 1 && conv.in_channels == 1) &&
                  (conv.weight->storage.value != StorageType::kHost || w[2] != conv.window.kernel_h);
  conv.weight_channels = conv.prepared ? w[2] / taps : w.size() < 3 ? 0 : w[1];
  conv.weight_dtype = conv.weight->dtype.value;
  OPWRIGHT_CHECK(read_config(call, conv));
  if (conv.prepared) conv.weight_dtype = conv.weight->dtype.value;
  return conv;
}

Checked<DType> conv_dtype(const BoundCall& call) {
  const TensorSpec* input = call.tensor("input_tensor");
  return call.dtype("dtype", input == nullptr ? DType::kBfloat16 : input->dtype.value);
}

ComputeConfig conv_compute(const BoundCall& call, const ConvCall& conv) {
  ComputeConfig config;
  config.fidelity = Fidelity::kHiFi4;
  config.approx = true;
  config.fp32_acc = conv.input->dtype.value == DType::kFloat32 && conv.weight_dtype == DType::kFloat32;
  if (call.passed("compute_config"))
    if (const auto read = compute_config_of(*call.find("compute_config"), config)) config = *read;
  return config;
}

ConvWeights conv_weights(const ConvCall& conv, const HostTensor& weight, const HostTensor* bias) {
  ConvWeights out;
  out.groups = conv.prepared ? 1 : conv.groups;
  out.in = conv.prepared ? std::min(conv.weight_channels, conv.in_channels) : conv.in_channels / conv.groups;
  out.out = conv.out_channels / out.groups;
  const std::int64_t kernel_w = conv.window.kernel_w;
  const std::int64_t taps = conv.window.kernel_h * kernel_w;
  out.matrix.assign(static_cast<std::size_t>(out.groups * taps * out.in * out.out), 0.0F);
  Shape shape = weight.spec.shape;
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  if (shape.size() != 4 || weight.floats.empty()) return out;
  // Rows of all output channels: block floats share exponents along them.
  std::vector<float> line(static_cast<std::size_t>(conv.out_channels));
  for (std::int64_t group = 0; group < out.groups; ++group)
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t channel = 0; channel < out.in; ++channel) {
        std::ranges::fill(line, 0.0F);
        for (std::int64_t i = 0; i < out.out; ++i) {
          const std::int64_t o = group * out.out + i;
          std::int64_t at = -1;
          if (conv.prepared) {
            if (o < shape[3]) at = (tap * conv.weight_channels + channel) * shape[3] + o;
          } else if (o < shape[0] && channel < shape[1] && tap / kernel_w < shape[2] && tap % kernel_w < shape[3]) {
            at = ((o * shape[1] + channel) * shape[2] + tap / kernel_w) * shape[3] + tap % kernel_w;
          }
          if (at >= 0) line[static_cast<std::size_t>(o)] = weight.floats[static_cast<std::size_t>(at)];
        }
        if (!conv.prepared) quantize(line, conv.out_channels, conv.weight_dtype);
        std::copy_n(line.begin() + group * out.out, out.out, out.matrix.begin() + out.row(group, tap, channel, taps));
      }
  if (bias != nullptr) {
    out.bias = bias->floats;
    out.bias.resize(static_cast<std::size_t>(conv.out_channels));
    if (!conv.prepared) quantize(out.bias, conv.out_channels, conv.weight_dtype);
  }
  return out;
}

}  // namespace opwright

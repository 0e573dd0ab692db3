#include "dialect/ttnn/conv_config.h"

#include <fmt/format.h>

namespace opwright {
namespace {

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

}  // namespace

Checked<ConvConfig> conv_config(const BoundCall& call) {
  ConvConfig conv;
  if (!call.passed("conv_config")) return conv;
  const Value& value = *call.find("conv_config");
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) fields = &s->fields;
  if (fields == nullptr) return type_error(call.op, "conv_config", value);
  for (const auto& [name, field] : *fields) {
    if (field.is_null()) continue;
    if (name == "weights_dtype") {
      const auto dtype = parse_dtype(word_of(field));
      if (!computed(dtype.value))
        return unsupported("conv_config.weights_dtype", fmt::format("dtype {}", to_text(field)));
      conv.weight_dtype = dtype.value;
    } else if (name == "shard_layout") {
      conv.shard_layout = parse_memory_layout(word_of(field)).value;
    } else if (name == "act_block_h_override") {
      conv.block_height = number_of(field, 0);
    } else if (name == "transpose_shards") {
      conv.transpose_shards = number_of(field, 0) != 0;
    } else if (name == "reshard_if_not_optimal") {
      conv.reshard = number_of(field, 0) != 0;
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
  return conv;
}

Checked<DType> conv_dtype(const BoundCall& call) {
  const TensorSpec* input = call.tensor("input_tensor");
  return call.dtype("dtype", input == nullptr ? DType::kBfloat16 : input->dtype.value);
}

ComputeConfig conv_compute(const BoundCall& call, DType weight_dtype) {
  const TensorSpec* input = call.tensor("input_tensor");
  ComputeConfig config;
  config.fidelity = Fidelity::kHiFi4;
  config.approx = true;
  config.fp32_acc = input != nullptr && input->dtype.value == DType::kFloat32 && weight_dtype == DType::kFloat32;
  if (call.passed("compute_config"))
    if (const auto read = compute_config_of(*call.find("compute_config"), config)) config = *read;
  return config;
}

}  // namespace opwright

#include "dialect/ttnn/compute_config.h"

#include "base/text.h"

namespace opwright {
namespace {

std::string_view word_of(const Value& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const Enum* e = value.as_enum()) return e->name;
  return {};
}

void read_flag(const Value& value, bool& flag) {
  if (const bool* b = value.as_bool()) flag = *b;
  if (const std::int64_t* i = value.as_int()) flag = *i != 0;
  const std::string_view word = word_of(value);
  if (word == "True" || word == "true" || word == "1") flag = true;
  if (word == "False" || word == "false" || word == "0") flag = false;
}

}  // namespace

std::string_view name_of(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::kLoFi:
      return "LoFi";
    case Fidelity::kHiFi2:
      return "HiFi2";
    case Fidelity::kHiFi3:
      return "HiFi3";
    case Fidelity::kHiFi4:
      return "HiFi4";
  }
  return "";
}

std::optional<ComputeConfig> compute_config_of(const Value& value, const ComputeConfig& otherwise) {
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) {
    if (s->type.find("ComputeKernelConfig") == std::string::npos) return std::nullopt;
    fields = &s->fields;
  }
  if (fields == nullptr) return std::nullopt;
  ComputeConfig config = otherwise;
  for (const auto& [name, field] : *fields) {
    if (name == "math_fidelity") {
      const std::string_view word = last_part(word_of(field));
      if (word == "LoFi") config.fidelity = Fidelity::kLoFi;
      if (word == "HiFi2") config.fidelity = Fidelity::kHiFi2;
      if (word == "HiFi3") config.fidelity = Fidelity::kHiFi3;
      if (word == "HiFi4") config.fidelity = Fidelity::kHiFi4;
    } else if (name == "math_approx_mode") {
      read_flag(field, config.approx);
    } else if (name == "fp32_dest_acc_en") {
      read_flag(field, config.fp32_acc);
    } else if (name == "packer_l1_acc") {
      read_flag(field, config.l1_acc);
    } else if (name == "dst_full_sync_en") {
      read_flag(field, config.dst_full_sync);
    }
  }
  return config;
}

Checked<ComputeConfig> compute_argument(const BoundCall& call, const ComputeConfig& otherwise) {
  constexpr std::string_view kParam = "compute_kernel_config";
  constexpr ComputeConfig kConstructed{.fidelity = Fidelity::kLoFi, .approx = true};
  if (!call.passed(kParam)) return otherwise;
  const auto read = compute_config_of(*call.find(kParam), kConstructed);
  if (!read) return type_error(call.op, kParam, *call.find(kParam));
  return *read;
}

}  // namespace opwright

// The compute-kernel configuration of a call: how precisely the matrix engine works.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/bound_call.h"
#include "model/refusal.h"
#include "model/value.h"

namespace opwright {

enum class Fidelity : std::uint8_t { kLoFi, kHiFi2, kHiFi3, kHiFi4 };
std::string_view name_of(Fidelity fidelity);  // "HiFi2"

struct ComputeConfig {
  Fidelity fidelity = Fidelity::kHiFi4;
  bool approx = false;         // math_approx_mode
  bool fp32_acc = false;       // fp32_dest_acc_en
  bool l1_acc = false;         // packer_l1_acc
  bool dst_full_sync = false;  // dst_full_sync_en
};

// Reads a *ComputeKernelConfig value of either era (enum, text and number spellings); nothing when it is none.
// Fields that the trace does not name keep those of `otherwise`.
std::optional<ComputeConfig> compute_config_of(const Value& value, const ComputeConfig& otherwise);

// The call's `compute_kernel_config`: `otherwise` when it was not passed. Fields that it does not name are those of a
// new WormholeComputeKernelConfig.
Checked<ComputeConfig> compute_argument(const BoundCall& call, const ComputeConfig& otherwise);

}  // namespace opwright

// How an attention call is cut into chunks: SDPAProgramConfig of either era.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/bound_call.h"
#include "model/refusal.h"
#include "model/tensor_spec.h"

namespace opwright {

struct AttentionProgram {
  std::optional<CoreCoord> grid;
  std::int64_t q_chunk = 32;
  std::int64_t k_chunk = 32;
  bool exp_approx = true;
  std::int64_t max_cores_per_head = 16;
  bool sub_core_grids = false;
};

// Nothing when the call does not name one; refused when `param` is something else.
Checked<std::optional<AttentionProgram>> attention_program(const BoundCall& call, std::string_view param);

}  // namespace opwright

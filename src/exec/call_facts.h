// Facts of a call by name, so that a condition on a call is text:
//   input_tensor_a[-1]      a dimension, counted from the end     input_tensor_a.rank, .dtype, .layout, .buffer
//   input_tensor_a.memory   HEIGHT_SHARDED, INTERLEAVED, …        input_tensor_a.cores, of its shards; 1 without
//   input_tensor_a.tile     16x32; 32x32 where none is named      input_tensor_a.orientation, of its shards; none
//   without input_tensor_a.placement   Shard(2),Replicate; none on one device dim                     an argument's
//   value                   compute_kernel_config.math_fidelity, a field of one tensors#1[-2]           of a list
//   padding#0, an item of a list
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_config.h"

namespace opwright {

struct FactName {
  std::vector<std::string> steps;  // the argument, then fields and items ("#1")
  std::string fact;                // "dtype", "rank", …; "" the value itself, or a dimension
  std::optional<std::int64_t> axis;
};
// Which steps lead to a tensor is the call's to say: "a.dtype" may be a field of a struct.
std::optional<FactName> find_fact(std::span<const Argument> args, std::string_view name);

// Null: not passed. None counts as passed here.
const Value* value_at(std::span<const Argument> args, std::span<const std::string> steps);

// Nothing where the call has no such thing.
std::optional<std::string> fact_of(std::span<const Argument> args, std::string_view name);
std::optional<double> number_of(std::string_view text);

std::int64_t cores_of(const std::vector<CoreRange>& grid);

}  // namespace opwright

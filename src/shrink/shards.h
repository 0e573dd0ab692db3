// Shards that follow a shape: when a dimension changes, either the shards stay and there are fewer of them, or the
// cores stay and each has less.
#pragma once

#include "model/op_config.h"
#include "shrink/rules.h"

namespace opwright::shrink {

enum class Keep : bool { kShard, kCores };

// The sharded tensors of `config` whose shape is not that of `before`, and memory configs among its arguments, fitted.
OpConfig refitted(const OpConfig& config, const OpConfig& before, Keep keep, const Rules& rules);
// The same tensor on so many cores. The memory as text; "" where that cannot be.
std::string on_cores(const TensorSpec& spec, std::int64_t cores);

}  // namespace opwright::shrink

#include "ops/shared/reduce_rules.h"

namespace opwright {

const OpSpec& mean_op() {
  static const OpSpec spec = reduce_spec<ReduceKind::kMean>("ttnn.mean");
  return spec;
}

}  // namespace opwright

#include "ops/shared/reduce_rules.h"

namespace opwright {

const OpSpec& sum_op() {
  static const OpSpec spec = reduce_spec<ReduceKind::kSum>("ttnn.sum");
  return spec;
}

}  // namespace opwright

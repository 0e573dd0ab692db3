#include "ops/shared/reduce_rules.h"

namespace opwright {

const OpSpec& min_op() {
  static const OpSpec spec = reduce_spec<ReduceKind::kMin>("ttnn.min");
  return spec;
}

}  // namespace opwright

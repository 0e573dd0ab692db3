#include "ops/shared/reduce_rules.h"

namespace opwright {

const OpSpec& max_op() {
  static const OpSpec spec = reduce_spec<ReduceKind::kMax>("ttnn.max");
  return spec;
}

}  // namespace opwright

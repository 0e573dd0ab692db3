#include "ops/op.h"

namespace opwright {

const HostTensor* ReferenceJob::input(std::string_view param, std::size_t item) const {
  const auto slot = call.slot(param, item);
  return slot ? &inputs[*slot] : nullptr;
}

}  // namespace opwright

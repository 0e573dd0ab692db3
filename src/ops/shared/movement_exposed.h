// A view that shows more or fewer elements than the tensor has: padding becomes visible, or values hide behind it.
#pragma once

#include "ops/op.h"

namespace opwright {

// The elements of the output where its rows are rows of the input's padded form. What was padding is zero.
Checked<Exact> exposed_elements(const ReferenceJob& job, const HostTensor& input);

}  // namespace opwright

// The dialect of Tenstorrent's ttnn.
#pragma once

#include "dialect/dialect.h"

namespace opwright {

const Dialect& ttnn_dialect();

}  // namespace opwright

// Convolutions and pools that are too large for L1 run in slices; a caller may say how.
#pragma once

#include "ops/op.h"

namespace opwright {

enum class Slicing : std::uint8_t {
  kLibrarys,  // the argument was not passed
  kNone,      // `Op2DSliceConfig(slice_type=L1_FULL)`: the whole of it in L1, also where the library would slice
  kCallers,
};
Checked<Slicing> slicing_of(const BoundCall& call, std::string_view param);

}  // namespace opwright

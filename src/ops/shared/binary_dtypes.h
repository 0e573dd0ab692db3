// Which dtypes two operands may have together, and what they become.
#pragma once

#include <optional>

#include "ops/shared/binary.h"

namespace opwright {

struct BinaryDtypes {
  DType a = DType::kAbsent;    // what the operand is converted to first
  DType b = DType::kAbsent;    // the same; kAbsent for a number
  DType out = DType::kAbsent;  // where nobody asks for another
};

// `b` is absent where the second operand is the number `scalar`.
Checked<BinaryDtypes> binary_dtypes(const BinaryOp& op, DType a, std::optional<DType> b, double scalar);

}  // namespace opwright

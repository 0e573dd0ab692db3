#include "ops/shared/binary_dtypes.h"

#include <fmt/format.h>

#include <cmath>

#include "model/host_tensor.h"
#include "ops/shared/eltwise.h"

namespace opwright {
namespace {

using Dtypes = BinaryOp::Dtypes;

bool wide_integer(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kUint32; }

bool takes(Dtypes dtypes, DType dtype) {
  const bool integers = dtypes == Dtypes::kInteger || dtypes == Dtypes::kWide || dtypes == Dtypes::kInt32;
  if (!is_integer(dtype)) return !integers;
  switch (dtypes) {
    case Dtypes::kSum:
    case Dtypes::kProduct:
    case Dtypes::kCompare:
      return dtype != DType::kUint8;
    case Dtypes::kQuotient:
      return dtype == DType::kInt32;
    case Dtypes::kSame:
      return wide_integer(dtype);
    case Dtypes::kPower:
      return false;
    case Dtypes::kInteger:
      return dtype != DType::kUint8;
    case Dtypes::kWide:
      return wide_integer(dtype);
    case Dtypes::kInt32:
    case Dtypes::kSigned:
      return dtype == DType::kInt32;
  }
  return false;
}

bool together(Dtypes dtypes, DType a, DType b) {
  if (dtypes == Dtypes::kSame || dtypes == Dtypes::kPower || dtypes == Dtypes::kSigned) return a == b;
  return is_integer(a) || is_integer(b) ? a == b : true;
}

// The float that an integer operand becomes beside a float.
DType float_beside(DType other) { return other == DType::kFloat32 ? DType::kFloat32 : DType::kBfloat16; }

}  // namespace

Checked<BinaryDtypes> binary_dtypes(const BinaryOp& op, DType a, std::optional<DType> b, double scalar) {
  const bool converts = op.dtypes == Dtypes::kProduct || op.dtypes == Dtypes::kQuotient;
  BinaryDtypes out{a, b.value_or(DType::kAbsent), DType::kAbsent};
  if (converts && b) {
    if (wide_integer(a) && !is_integer(*b)) out.a = float_beside(*b);
    if (wide_integer(*b) && !is_integer(a)) out.b = float_beside(a);
  } else if ((converts || op.type == "REMAINDER" || op.type == "FMOD") && !b && !op.in_place && wide_integer(a) &&
             scalar != std::trunc(scalar)) {
    out.a = DType::kFloat32;
  }
  if (op.dtypes == Dtypes::kCompare && out.a == DType::kUint8) out.a = DType::kUint16;
  if (op.dtypes == Dtypes::kCompare && out.b == DType::kUint8) out.b = DType::kUint16;
  if (op.type == "POWER" && is_integer(a))
    return refuse(
        fmt::format("Input tensor A dtype {} is not supported for binary operation POWER: tensor exponents are not "
                    "supported for integer inputs, use a scalar integer exponent",
                    eltwise::dtype_text(a)),
        std::string(op.first));
  OPWRIGHT_REQUIRE(takes(op.dtypes, out.a),
                   "Input tensor A dtype {} is not supported for binary operation BinaryOpType::{}",
                   eltwise::dtype_text(out.a), op.type);
  if (b) {
    OPWRIGHT_REQUIRE(takes(op.dtypes, out.b),
                     "Input tensor B dtype {} is not supported for binary operation BinaryOpType::{}",
                     eltwise::dtype_text(out.b), op.type);
    OPWRIGHT_REQUIRE(together(op.dtypes, out.a, out.b),
                     "Mixed dtype is not supported for binary operation BinaryOpType::{}, dtype A: {}, dtype B: {}",
                     op.type, eltwise::dtype_text(out.a), eltwise::dtype_text(out.b));
  } else if (wide_integer(out.a) && !converts && op.dtypes != Dtypes::kSame) {
    OPWRIGHT_REQUIRE(scalar == std::trunc(scalar) && std::isfinite(scalar),
                     "Binary operation BinaryOpType::{} with a {} tensor cannot represent the scalar {}: only a finite "
                     "integer within the range of {} survives the conversion",
                     op.type, eltwise::dtype_text(out.a), scalar, eltwise::dtype_text(out.a));
  }
  out.out = op.dtypes == Dtypes::kQuotient && out.a == DType::kInt32 ? DType::kFloat32 : out.a;
  return out;
}

}  // namespace opwright

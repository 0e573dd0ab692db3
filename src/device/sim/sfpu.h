// The vector unit: functions of one value, as accurate or not as the device computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/sim/pack.h"

namespace opwright::sim {

enum class Unary : std::uint8_t {
  kAbs,
  kAcos,
  kAsin,
  kAtan,
  kCeil,
  kClamp,  // params: lowest, highest
  kCos,
  kCosh,
  kElu,  // params: alpha (1)
  kEqz,
  kErf,
  kErfc,
  kErfinv,
  kExp,
  kExp2,
  kExpm1,
  kFloor,
  kFrac,
  kGelu,
  kGez,
  kGtz,
  kHardsigmoid,
  kHardswish,
  kHardtanh,  // params: lowest (-1), highest (1)
  kIdentity,
  kIsfinite,
  kIsinf,
  kIsnan,
  kLeakyRelu,  // params: slope (0.01)
  kLez,
  kLog,
  kLog10,
  kLog1p,
  kLog2,
  kLogicalNot,
  kLtz,
  kMish,
  kNeg,
  kNez,
  kPower,  // params: exponent
  kReciprocal,
  kRelu,
  kRelu6,
  kRound,
  kRsqrt,
  kSigmoid,
  kSigmoidAccurate,
  kSign,
  kSilu,
  kSin,
  kSinh,
  kSoftplus,  // params: beta (1), threshold (20)
  kSoftsign,
  kSqrt,
  kSquare,
  kTan,
  kTanh,
  kTrunc,
};

// The function's own name, "gelu"; also of the library's UnaryOpType ("UnaryOpType.GELU", "GELU").
std::string_view name_of(Unary op);
std::optional<Unary> find_unary(std::string_view name);

// Replaces values in the destination register by the function's. `approx`: fast_and_approximate_mode or the
// math_approx_mode of fused activations. Values are as in memory; the packer comes after (pack.h).
void sfpu(Unary op, std::span<float> values, Dst dst, bool approx, std::span<const float> params = {});
float sfpu(Unary op, float value, Dst dst, bool approx, std::span<const float> params = {});

}  // namespace opwright::sim

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
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kBitwiseNot,
  kCbrt,
  kCeil,
  kCelu,   // params: alpha (1)
  kClamp,  // params: lowest, highest
  kCos,
  kCosh,
  kDeg2rad,
  kDigamma,
  kElu,  // params: alpha (1)
  kEqz,
  kErf,
  kErfc,
  kErfinv,
  kExp,
  kExp2,
  kExpm1,
  kFill,  // params: the value
  kFloor,
  kFrac,
  kGelu,
  kGez,
  kGtz,
  kHardshrink,  // params: lambda (0.5)
  kHardsigmoid,
  kHardswish,
  kHardtanh,   // params: lowest (-1), highest (1)
  kHeaviside,  // params: the value at 0
  kI0,
  kI1,
  kIdentity,
  kIsfinite,
  kIsinf,
  kIsnan,
  kIsneginf,
  kIsposinf,
  kLeakyRelu,  // params: slope (0.01)
  kLez,
  kLgamma,
  kLog,
  kLog10,
  kLog1p,
  kLog2,
  kLogSigmoid,
  kLogicalNot,
  kLogit,  // params: eps (0: none)
  kLtz,
  kMish,
  kNeg,
  kNez,
  kPower,  // params: exponent
  kRad2deg,
  kRdiv,  // params: dividend
  kReciprocal,
  kRelu,
  kRelu6,
  kReluMax,  // params: highest
  kReluMin,  // params: lowest
  kRound,
  kRpow,  // params: base
  kRsqrt,
  kSelu,  // params: scale, alpha
  kSigmoid,
  kSigmoidAccurate,
  kSign,
  kSignbit,
  kSilu,
  kSin,
  kSinh,
  kSoftplus,    // params: beta (1), threshold (20)
  kSoftshrink,  // params: lambda (0.5)
  kSoftsign,
  kSqrt,
  kSquare,
  kTan,
  kTanh,
  kTanhshrink,
  kThreshold,  // params: threshold, value
  kTrunc,
};

// The function's own name, "gelu"; also of the library's UnaryOpType ("UnaryOpType.GELU", "GELU").
std::string_view name_of(Unary op);
std::optional<Unary> find_unary(std::string_view name);

// Functions whose kernels nobody here has seen at work: the exact result, as a plain kernel would store it. Nothing
// where the function is another one.
std::optional<double> modelled(Unary op, double x, std::span<const float> params);

// Replaces values in the destination register by the function's. `approx`: fast_and_approximate_mode or the
// math_approx_mode of fused activations. Values are as in memory; the packer comes after (pack.h).
void sfpu(Unary op, std::span<float> values, Dst dst, bool approx, std::span<const float> params = {});
float sfpu(Unary op, float value, Dst dst, bool approx, std::span<const float> params = {});

}  // namespace opwright::sim

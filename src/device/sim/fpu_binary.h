// Functions of two values: the matrix engine's element-wise add, subtract and multiply, and the vector unit's others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/sim/pack.h"
#include "dialect/ttnn/compute_config.h"
#include "model/tensor_spec.h"

namespace opwright::sim {

enum class Binary : std::uint8_t {
  kAdd,
  kSub,
  kRsub,  // b - a
  kMul,
  kDiv,
  kEq,
  kNe,
  kGt,
  kGe,
  kLt,
  kLe,
  kMax,
  kMin,
  kPow,
  kFmod,
  kRemainder,
  kSquaredDifference,
  kLogAddExp,
  kLogAddExp2,
  kLdexp,
  kAtan2,
  kHypot,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  // Of no recorded numerics: modelled.
  kXlogy,
  kBiasGelu,
  kDivNoNan,
  kFloorDiv,
  // Of integers alone.
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kShiftLeft,
  kShiftRight,
  kShiftRightLogical,
  kGcd,
  kLcm,
};
std::string_view name_of(Binary op);  // "add", as the last part of the operator's name
std::optional<Binary> find_binary(std::string_view name);

enum class Engine : std::uint8_t { kMatrix, kVector };

// Which engine the library takes. `fast`: fast_and_approximate_mode of multiply and divide.
Engine engine_of(Binary op, DType a, DType b, bool fast = false);

// The same of two integers, before the dtype cuts it.
std::int64_t integer_binary(Binary op, std::int64_t a, std::int64_t b);

// out = op(a, b) element by element, as the destination register holds it; all of one size. `out` may be `a` or `b`.
// `a`, `b` as in memory: denormals and what source registers drop are dealt with here.
void binary(Binary op, Engine engine, Dst dst, std::span<const float> a, std::span<const float> b,
            std::span<float> out);
// The same with one value for b (a scalar argument or a broadcast element).
void binary(Binary op, Engine engine, Dst dst, std::span<const float> a, float b, std::span<float> out);

}  // namespace opwright::sim

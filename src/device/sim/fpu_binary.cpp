#include "device/sim/fpu_binary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "device/sim/gemm_kernel.h"
#include "device/sim/sfpu.h"
#include "device/sim/sfpu_lane.h"
#include "device/sim/unpack.h"

namespace opwright::sim {

namespace {

constexpr std::array kNames{
    std::pair{Binary::kAdd, std::string_view("add")},
    std::pair{Binary::kSub, std::string_view("subtract")},
    std::pair{Binary::kRsub, std::string_view("rsub")},
    std::pair{Binary::kMul, std::string_view("multiply")},
    std::pair{Binary::kDiv, std::string_view("divide")},
    std::pair{Binary::kEq, std::string_view("eq")},
    std::pair{Binary::kNe, std::string_view("ne")},
    std::pair{Binary::kGt, std::string_view("gt")},
    std::pair{Binary::kGe, std::string_view("ge")},
    std::pair{Binary::kLt, std::string_view("lt")},
    std::pair{Binary::kLe, std::string_view("le")},
    std::pair{Binary::kMax, std::string_view("maximum")},
    std::pair{Binary::kMin, std::string_view("minimum")},
    std::pair{Binary::kPow, std::string_view("pow")},
    std::pair{Binary::kFmod, std::string_view("fmod")},
    std::pair{Binary::kRemainder, std::string_view("remainder")},
    std::pair{Binary::kSquaredDifference, std::string_view("squared_difference")},
    std::pair{Binary::kLogAddExp, std::string_view("logaddexp")},
    std::pair{Binary::kLogAddExp2, std::string_view("logaddexp2")},
    std::pair{Binary::kLdexp, std::string_view("ldexp")},
    std::pair{Binary::kAtan2, std::string_view("atan2")},
    std::pair{Binary::kHypot, std::string_view("hypot")},
    std::pair{Binary::kLogicalAnd, std::string_view("logical_and")},
    std::pair{Binary::kLogicalOr, std::string_view("logical_or")},
    std::pair{Binary::kLogicalXor, std::string_view("logical_xor")},
    std::pair{Binary::kXlogy, std::string_view("xlogy")},
    std::pair{Binary::kBiasGelu, std::string_view("bias_gelu")},
    std::pair{Binary::kDivNoNan, std::string_view("div_no_nan")},
    std::pair{Binary::kFloorDiv, std::string_view("floor_div")},
    std::pair{Binary::kBitwiseAnd, std::string_view("bitwise_and")},
    std::pair{Binary::kBitwiseOr, std::string_view("bitwise_or")},
    std::pair{Binary::kBitwiseXor, std::string_view("bitwise_xor")},
    std::pair{Binary::kShiftLeft, std::string_view("bitwise_left_shift")},
    std::pair{Binary::kShiftRight, std::string_view("bitwise_right_shift")},
    std::pair{Binary::kShiftRightLogical, std::string_view("logical_right_shift")},
    std::pair{Binary::kGcd, std::string_view("gcd")},
    std::pair{Binary::kLcm, std::string_view("lcm")},
};

constexpr int kMaxPhases = 4;  // element-wise kernels run at HiFi4

bool is_zero(float value) { return lane::exponent_of(value) == 0; }

// A 16-bit destination has no NaN.
float nearest_even(float value, Dst dst) {
  if (std::isnan(value)) return dst == Dst::kFp32 ? value : std::copysign(INFINITY, value);
  return round_to_dst(lane::flush(value), dst);
}
float away(float value, Dst dst) { return dst == Dst::kBf16 ? lane::round_bf16(value) : lane::flush(value); }

float on_matrix(Binary op, float a, float b, Dst dst) {
  const bool fp32 = dst == Dst::kFp32;
  a = unpack_to_source(a);
  b = unpack_to_source(b);
  switch (op) {
    case Binary::kSub:
      return engine::add_sources(a, -b, fp32);
    case Binary::kRsub:
      return engine::add_sources(b, -a, fp32);
    case Binary::kMul: {
      float product = 0.0F;
      for (int phase = 0; phase < kMaxPhases; ++phase) {
        product = engine::multiply_accumulate(a, b, product, phase, fp32);
      }
      return product;
    }
    case Binary::kSquaredDifference:
      return sfpu(Unary::kSquare, engine::add_sources(a, -b, fp32), dst, false);
    case Binary::kLogAddExp: {
      const float sum = engine::add_sources(sfpu(Unary::kExp, a, dst, false), sfpu(Unary::kExp, b, dst, false), fp32);
      return sfpu(Unary::kLog, sum, dst, false);
    }
    case Binary::kLogAddExp2: {
      const float sum = engine::add_sources(sfpu(Unary::kExp2, a, dst, false), sfpu(Unary::kExp2, b, dst, false), fp32);
      return sfpu(Unary::kLog2, sum, dst, false);
    }
    case Binary::kBiasGelu:
      return sfpu(Unary::kGelu, engine::add_sources(a, b, fp32), dst, false);
    case Binary::kLdexp:
      return on_matrix(Binary::kMul, a, sfpu(Unary::kExp2, b, dst, false), dst);
    default:
      return engine::add_sources(a, b, fp32);
  }
}

float divide(float a, float b, Dst dst) {
  if (is_zero(b)) return is_zero(a) ? INFINITY : std::copysign(INFINITY, a);
  if (dst == Dst::kFp32) return lane::flush(a / b);
  return nearest_even(lane::mul(a, lane::reciprocal(b)), dst);
}

// As integers in sign and magnitude: -0 lies below 0, and NaN beyond Inf.
bool below(float a, float b) {
  const auto order = [](float value) {
    const auto bits = static_cast<std::int64_t>(lane::bits_of(value));
    return (bits & 0x80000000) != 0 ? 0x7FFFFFFF - bits : bits;
  };
  return order(a) < order(b);
}

float on_vector(Binary op, float a, float b, Dst dst) {
  switch (op) {
    case Binary::kAdd:
      return nearest_even(lane::add(a, b), dst);
    case Binary::kSub:
      return nearest_even(lane::add(a, -b), dst);
    case Binary::kRsub:
      return nearest_even(lane::add(b, -a), dst);
    case Binary::kMul:
      return is_zero(a) || is_zero(b) ? 0.0F : nearest_even(lane::mul(a, b), dst);
    case Binary::kDiv:
      return divide(a, b, dst);
    case Binary::kEq:
      return a == b ? 1.0F : 0.0F;
    case Binary::kNe:
      return a != b ? 1.0F : 0.0F;
    case Binary::kGt:
      return a > b ? 1.0F : 0.0F;
    case Binary::kGe:
      return a >= b ? 1.0F : 0.0F;
    case Binary::kLt:
      return a < b ? 1.0F : 0.0F;
    case Binary::kLe:
      return a <= b ? 1.0F : 0.0F;
    case Binary::kMax:
      return below(a, b) ? b : a;
    case Binary::kMin:
      return below(a, b) ? a : b;
    case Binary::kPow:
      return dst == Dst::kBf16 ? away(lane::power(a, b), dst) : lane::flush(std::pow(a, b));
    case Binary::kFmod:
      return is_zero(b) ? INFINITY : nearest_even(std::fmod(a, b), dst);
    case Binary::kRemainder: {
      if (is_zero(b)) return INFINITY;
      const float rest = std::fmod(a, b);
      return nearest_even(rest != 0.0F && (rest < 0.0F) != (b < 0.0F) ? rest + b : rest, dst);
    }
    case Binary::kSquaredDifference: {
      const float difference = lane::add(a, -b);
      return truncate_to_dst(lane::mul(difference, difference), dst);
    }
    case Binary::kLogAddExp: {
      const float larger = std::max(a, b);
      return away(larger + std::log1p(std::exp(-std::fabs(a - b))), dst);
    }
    case Binary::kLogAddExp2: {
      const float larger = std::max(a, b);
      return away(larger + std::log1p(std::exp2(-std::fabs(a - b))) / std::numbers::ln2_v<float>, dst);
    }
    case Binary::kLdexp:
      return nearest_even(lane::mul(a, std::exp2(b)), dst);
    case Binary::kAtan2:
      return away(std::atan2(a, b), dst);
    case Binary::kHypot:
      return away(std::hypot(a, b), dst);
    case Binary::kLogicalAnd:
      return a != 0.0F && b != 0.0F ? 1.0F : 0.0F;
    case Binary::kLogicalOr:
      return a != 0.0F || b != 0.0F ? 1.0F : 0.0F;
    case Binary::kLogicalXor:
      return (a != 0.0F) != (b != 0.0F) ? 1.0F : 0.0F;
    case Binary::kXlogy:
      return a == 0.0F && b >= 0.0F ? 0.0F : away(a * std::log(b), dst);
    case Binary::kBiasGelu:
      return sfpu(Unary::kGelu, nearest_even(lane::add(a, b), dst), dst, false);
    case Binary::kDivNoNan:
      return is_zero(b) ? 0.0F : divide(a, b, dst);
    case Binary::kFloorDiv:
      return is_zero(b) ? divide(a, b, dst) : nearest_even(std::floor(a / b), dst);
    default:
      return a;
  }
}

constexpr std::int64_t kGrain = 1 << 15;

// The common operations once more, for values of middling size and in a form that compilers turn into vector code.
// A sum of magic numbers rounds to units: 1.5 x 2^23 of them, to which the terms are added. A term made larger by a
// little goes away from zero where it lies half way between two.
constexpr std::uint32_t kExponentBits = 0x7F800000U;
constexpr std::uint32_t kMiddlingLow = 80U << 23;  // factors: their products and units are normal numbers
constexpr std::uint32_t kMiddlingHigh = 170U << 23;
constexpr std::uint32_t kAddableLow = 24U << 23;
constexpr std::uint32_t kAddableHigh = 230U << 23;
constexpr std::uint32_t kMagicOffset = (13U << 23) + (1U << 22);  // the unit lies 10 bits below the exponent

bool within(float value, std::uint32_t low, std::uint32_t high) {
  const std::uint32_t exponent = lane::bits_of(value) & kExponentBits;
  return exponent == 0 || (exponent >= low && exponent <= high);
}
bool middling(float value) { return within(value, kMiddlingLow, kMiddlingHigh); }
bool addable(float value) { return within(value, kAddableLow, kAddableHigh); }

float round_away(float value) { return lane::value_of((lane::bits_of(value) + 0x8000) & 0xFFFF0000U); }

// The part of a value that the source registers' significand of 11 bits holds, and the upper bits of that.
float masked(float value, std::uint32_t mask) { return lane::value_of(lane::bits_of(value) & mask); }

template <bool kFp32>
float quick_add(float a, float b) {
  constexpr float kLarger = 1.0F + 0x1p-12F;
  a = unpack_to_source(a);
  b = unpack_to_source(b);
  const std::uint32_t larger = std::max(lane::bits_of(a) & kExponentBits, lane::bits_of(b) & kExponentBits);
  const float magic = lane::value_of(larger + kMagicOffset);
  const float sum = (magic + a * kLarger + b * kLarger) - magic;
  return kFp32 ? sum : round_away(sum);
}

// `product` of a phase, whose operands' exponents add up to `exponent`, on top of a 16-bit destination.
float quick_accumulate(float dst, float product, std::uint32_t exponent) {
  const std::uint32_t larger = std::max(exponent, lane::bits_of(dst) & kExponentBits);
  const float magic = lane::value_of(larger + kMagicOffset);
  const float tie = lane::value_of(exponent - (12U << 23));  // a quarter of the product's unit: ties go up
  return round_away((magic + (product + tie) + dst * (1.0F + 0x1p-13F)) - magic);
}

template <bool kFp32>
float quick_multiply(float a, float b) {
  a = masked(flush_denormal(a), engine::kIn1Bits);
  b = masked(flush_denormal(b), engine::kIn0Bits);
  if (kFp32) return a * b;
  const std::uint32_t bits_a = lane::bits_of(a) & kExponentBits;
  const std::uint32_t bits_b = lane::bits_of(b) & kExponentBits;
  const bool zero = bits_a == 0 || bits_b == 0;
  const std::uint32_t exponent = zero ? kMiddlingLow : bits_a + bits_b - (127U << 23);
  const float high_a = masked(a, engine::kIn1High);
  const float high_b = masked(b, engine::kIn0High);
  const float low_a = a - high_a;
  const float low_b = b - high_b;
  float product = quick_accumulate(0.0F, high_a * high_b, exponent);
  product = quick_accumulate(product, low_a * high_b, exponent - (5U << 23));
  product = quick_accumulate(product, high_a * low_b, exponent - (7U << 23));
  product = quick_accumulate(product, low_a * low_b, exponent - (12U << 23));
  return zero ? 0.0F : product;
}

// Quotients of 8-bit significands lie far from half-way points, and the kernel's reciprocal is good to 23 bits.
template <bool kFp32>
float quick_divide(float a, float b) {
  return kFp32 ? a / b : round_to_dst(a / b, Dst::kBf16);
}

bool has_16_bits(float value) { return (lane::bits_of(value) & 0xFFFF) == 0; }

// Operands of a call: b is an array or one value.
struct Operands {
  std::span<const float> a;
  std::span<const float> b;
  float scalar = 0.0F;
  std::span<float> out;

  float left(std::size_t i) const { return a[i]; }
  float right(std::size_t i) const { return b.empty() ? scalar : b[i]; }
};

// Runs `quick` where the operands are `good` for it (whole blocks of them become vector code), `slow` elsewhere.
template <class Quick, class Good, class Slow>
void run(const Operands& operands, Quick quick, Good good, Slow slow) {
  parallel_for(0, static_cast<std::int64_t>(operands.out.size()), kGrain, [&](std::int64_t first, std::int64_t last) {
    constexpr std::size_t kBlock = 256;
    const auto end = static_cast<std::size_t>(last);
    for (auto start = static_cast<std::size_t>(first); start < end; start += kBlock) {
      const std::size_t stop = std::min(start + kBlock, end);
      bool all = true;
      for (std::size_t i = start; i < stop; ++i) all &= good(operands.left(i), operands.right(i));
      if (all) {
        for (std::size_t i = start; i < stop; ++i) operands.out[i] = quick(operands.left(i), operands.right(i));
      } else {
        for (std::size_t i = start; i < stop; ++i) {
          const float a = operands.left(i);
          const float b = operands.right(i);
          operands.out[i] = good(a, b) ? quick(a, b) : slow(a, b);
        }
      }
    }
  });
}

template <bool kFp32>
void run(Binary op, Engine engine, const Operands& operands) {
  constexpr Dst kDst = kFp32 ? Dst::kFp32 : Dst::kBf16;
  const auto matrix = [op](float a, float b) { return on_matrix(op, a, b, kDst); };
  const auto vector = [op](float a, float b) { return on_vector(op, a, b, kDst); };
  const auto both_middling = [](float a, float b) { return middling(a) && middling(b); };
  const auto both_addable = [](float a, float b) { return addable(a) && addable(b); };
  const auto divisible = [](float a, float b) {
    return middling(a) && middling(b) && !is_zero(b) && (kFp32 || (has_16_bits(a) && has_16_bits(b)));
  };
  if (engine == Engine::kMatrix) {
    switch (op) {
      case Binary::kAdd:
        return run(operands, [](float a, float b) { return quick_add<kFp32>(a, b); }, both_addable, matrix);
      case Binary::kSub:
        return run(operands, [](float a, float b) { return quick_add<kFp32>(a, -b); }, both_addable, matrix);
      case Binary::kRsub:
        return run(operands, [](float a, float b) { return quick_add<kFp32>(b, -a); }, both_addable, matrix);
      case Binary::kMul:
        return run(operands, [](float a, float b) { return quick_multiply<kFp32>(a, b); }, both_middling, matrix);
      default:
        return run(operands, matrix, [](float, float) { return true; }, matrix);
    }
  }
  if (op == Binary::kDiv) {
    return run(operands, [](float a, float b) { return quick_divide<kFp32>(a, b); }, divisible, vector);
  }
  run(operands, vector, [](float, float) { return true; }, vector);
}

}  // namespace

std::string_view name_of(Binary op) {
  for (const auto& [value, name] : kNames) {
    if (value == op) return name;
  }
  return "unknown";
}

std::optional<Binary> find_binary(std::string_view name) {
  if (name == "sub") return Binary::kSub;
  if (name == "mul") return Binary::kMul;
  if (name == "div") return Binary::kDiv;
  if (name == "logical_left_shift") return Binary::kShiftLeft;
  for (const auto& [value, known] : kNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Engine engine_of(Binary op, DType a, DType b, bool fast) {
  const bool same = a == b && (a == DType::kFloat32 || a == DType::kBfloat16);
  switch (op) {
    case Binary::kMul:
    case Binary::kDiv:
      if (fast) return Engine::kMatrix;
      return same || op == Binary::kDiv ? Engine::kVector : Engine::kMatrix;
    case Binary::kAdd:
    case Binary::kSub:
    case Binary::kRsub:
    case Binary::kSquaredDifference:
    case Binary::kLogAddExp:
    case Binary::kLogAddExp2:
    case Binary::kBiasGelu:
    case Binary::kLdexp:
      return same && a == DType::kFloat32 ? Engine::kVector : Engine::kMatrix;
    default:
      return Engine::kVector;
  }
}

namespace {

// The reciprocal goes through memory's format, and is a function with a table.
void divide_on_matrix(Dst dst, const Operands& operands) {
  std::vector<float> reciprocals(operands.b.begin(), operands.b.end());
  if (operands.b.empty()) reciprocals.assign(1, operands.scalar);
  sfpu(Unary::kReciprocal, reciprocals, dst, false);
  if (operands.b.empty()) {
    binary(Binary::kMul, Engine::kMatrix, dst, operands.a, reciprocals[0], operands.out);
  } else {
    binary(Binary::kMul, Engine::kMatrix, dst, operands.a, reciprocals, operands.out);
  }
}

void run_with(Binary op, Engine engine, Dst dst, const Operands& operands) {
  if (op == Binary::kDiv && engine == Engine::kMatrix) return divide_on_matrix(dst, operands);
  if (dst == Dst::kFp32) {
    run<true>(op, engine, operands);
  } else {
    run<false>(op, engine, operands);
  }
}

}  // namespace

void binary(Binary op, Engine engine, Dst dst, std::span<const float> a, std::span<const float> b,
            std::span<float> out) {
  run_with(op, engine, dst, {a, b, 0.0F, out});
}

void binary(Binary op, Engine engine, Dst dst, std::span<const float> a, float b, std::span<float> out) {
  run_with(op, engine, dst, {a, {}, b, out});
}

}  // namespace opwright::sim

#include "device/sim/sfpu.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "device/sim/sfpu_lane.h"

namespace opwright::sim {

namespace {

constexpr std::array kNames{
    std::pair{Unary::kAbs, std::string_view("abs")},
    std::pair{Unary::kAcos, std::string_view("acos")},
    std::pair{Unary::kAcosh, std::string_view("acosh")},
    std::pair{Unary::kAsin, std::string_view("asin")},
    std::pair{Unary::kAsinh, std::string_view("asinh")},
    std::pair{Unary::kAtan, std::string_view("atan")},
    std::pair{Unary::kAtanh, std::string_view("atanh")},
    std::pair{Unary::kBitwiseNot, std::string_view("bitwise_not")},
    std::pair{Unary::kCbrt, std::string_view("cbrt")},
    std::pair{Unary::kCeil, std::string_view("ceil")},
    std::pair{Unary::kCelu, std::string_view("celu")},
    std::pair{Unary::kClamp, std::string_view("clamp")},
    std::pair{Unary::kCos, std::string_view("cos")},
    std::pair{Unary::kCosh, std::string_view("cosh")},
    std::pair{Unary::kDeg2rad, std::string_view("deg2rad")},
    std::pair{Unary::kDigamma, std::string_view("digamma")},
    std::pair{Unary::kElu, std::string_view("elu")},
    std::pair{Unary::kEqz, std::string_view("eqz")},
    std::pair{Unary::kErf, std::string_view("erf")},
    std::pair{Unary::kErfc, std::string_view("erfc")},
    std::pair{Unary::kErfinv, std::string_view("erfinv")},
    std::pair{Unary::kExp, std::string_view("exp")},
    std::pair{Unary::kExp2, std::string_view("exp2")},
    std::pair{Unary::kExpm1, std::string_view("expm1")},
    std::pair{Unary::kFill, std::string_view("fill")},
    std::pair{Unary::kFloor, std::string_view("floor")},
    std::pair{Unary::kFrac, std::string_view("frac")},
    std::pair{Unary::kGelu, std::string_view("gelu")},
    std::pair{Unary::kGez, std::string_view("gez")},
    std::pair{Unary::kGtz, std::string_view("gtz")},
    std::pair{Unary::kHardshrink, std::string_view("hardshrink")},
    std::pair{Unary::kHardsigmoid, std::string_view("hardsigmoid")},
    std::pair{Unary::kHardswish, std::string_view("hardswish")},
    std::pair{Unary::kHardtanh, std::string_view("hardtanh")},
    std::pair{Unary::kHeaviside, std::string_view("heaviside")},
    std::pair{Unary::kI0, std::string_view("i0")},
    std::pair{Unary::kI1, std::string_view("i1")},
    std::pair{Unary::kIdentity, std::string_view("identity")},
    std::pair{Unary::kIsfinite, std::string_view("isfinite")},
    std::pair{Unary::kIsinf, std::string_view("isinf")},
    std::pair{Unary::kIsnan, std::string_view("isnan")},
    std::pair{Unary::kIsneginf, std::string_view("isneginf")},
    std::pair{Unary::kIsposinf, std::string_view("isposinf")},
    std::pair{Unary::kLeakyRelu, std::string_view("leaky_relu")},
    std::pair{Unary::kLez, std::string_view("lez")},
    std::pair{Unary::kLgamma, std::string_view("lgamma")},
    std::pair{Unary::kLog, std::string_view("log")},
    std::pair{Unary::kLog10, std::string_view("log10")},
    std::pair{Unary::kLog1p, std::string_view("log1p")},
    std::pair{Unary::kLog2, std::string_view("log2")},
    std::pair{Unary::kLogSigmoid, std::string_view("log_sigmoid")},
    std::pair{Unary::kLogicalNot, std::string_view("logical_not")},
    std::pair{Unary::kLogit, std::string_view("logit")},
    std::pair{Unary::kLtz, std::string_view("ltz")},
    std::pair{Unary::kMish, std::string_view("mish")},
    std::pair{Unary::kNeg, std::string_view("neg")},
    std::pair{Unary::kNez, std::string_view("nez")},
    std::pair{Unary::kPower, std::string_view("power")},
    std::pair{Unary::kRad2deg, std::string_view("rad2deg")},
    std::pair{Unary::kRdiv, std::string_view("rdiv")},
    std::pair{Unary::kReciprocal, std::string_view("reciprocal")},
    std::pair{Unary::kRelu, std::string_view("relu")},
    std::pair{Unary::kRelu6, std::string_view("relu6")},
    std::pair{Unary::kReluMax, std::string_view("relu_max")},
    std::pair{Unary::kReluMin, std::string_view("relu_min")},
    std::pair{Unary::kRound, std::string_view("round")},
    std::pair{Unary::kRpow, std::string_view("rpow")},
    std::pair{Unary::kRsqrt, std::string_view("rsqrt")},
    std::pair{Unary::kSelu, std::string_view("selu")},
    std::pair{Unary::kSigmoid, std::string_view("sigmoid")},
    std::pair{Unary::kSigmoidAccurate, std::string_view("sigmoid_accurate")},
    std::pair{Unary::kSign, std::string_view("sign")},
    std::pair{Unary::kSignbit, std::string_view("signbit")},
    std::pair{Unary::kSilu, std::string_view("silu")},
    std::pair{Unary::kSin, std::string_view("sin")},
    std::pair{Unary::kSinh, std::string_view("sinh")},
    std::pair{Unary::kSoftplus, std::string_view("softplus")},
    std::pair{Unary::kSoftshrink, std::string_view("softshrink")},
    std::pair{Unary::kSoftsign, std::string_view("softsign")},
    std::pair{Unary::kSqrt, std::string_view("sqrt")},
    std::pair{Unary::kSquare, std::string_view("square")},
    std::pair{Unary::kTan, std::string_view("tan")},
    std::pair{Unary::kTanh, std::string_view("tanh")},
    std::pair{Unary::kTanhshrink, std::string_view("tanhshrink")},
    std::pair{Unary::kThreshold, std::string_view("threshold")},
    std::pair{Unary::kTrunc, std::string_view("trunc")},
};

// How a kernel leaves its result in a 16-bit destination.
enum class Store : std::uint8_t { kRounds, kTruncates };

struct Result {
  double value = 0;
  Store store = Store::kRounds;
};

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double inverse_erf(double x) {
  if (!(std::fabs(x) < 1)) return std::copysign(std::numeric_limits<double>::infinity(), x);
  // Giles' start would be closer; four steps of Newton from Winitzki's are enough.
  constexpr double kA = 0.147;
  constexpr double kPi = 3.14159265358979323846;
  const double logarithm = std::log1p(-x * x);
  const double t = 2 / (kPi * kA) + logarithm / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - logarithm / kA) - t), x);
  for (int i = 0; i < 4; ++i) y -= (std::erf(y) - x) / (2 / std::sqrt(kPi) * std::exp(-y * y));
  return y;
}

// Functions that kernels compute as well as the destination can hold, or nearly.
double accurate(Unary op, double x, std::span<const float> params) {
  const auto param = [&](std::size_t i, double otherwise) {
    return i < params.size() ? static_cast<double>(params[i]) : otherwise;
  };
  switch (op) {
    case Unary::kAcos:
      return std::acos(x);
    case Unary::kAsin:
      return std::asin(x);
    case Unary::kAtan:
      return std::atan(x);
    case Unary::kCos:
      return std::cos(x);
    case Unary::kCosh:
      return std::cosh(x);
    case Unary::kElu:
      return x >= 0 ? x : param(0, 1.0) * std::expm1(x);
    case Unary::kErf:
      return std::erf(x);
    case Unary::kErfc:
      return std::erfc(x);
    case Unary::kErfinv:
      return inverse_erf(x);
    case Unary::kExp:
      return std::exp(x);
    case Unary::kExp2:
      return std::exp2(x);
    case Unary::kExpm1:
      return std::expm1(x);
    case Unary::kGelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Unary::kHardswish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case Unary::kLog:
      return std::log(x);
    case Unary::kLog10:
      return std::log10(x);
    case Unary::kLog1p:
      return std::log1p(x);
    case Unary::kLog2:
      return std::log2(x);
    case Unary::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case Unary::kPower:
      return std::pow(x, param(0, 1.0));
    case Unary::kReciprocal:
      return 1 / x;
    case Unary::kRsqrt:
      return 1 / std::sqrt(x);
    case Unary::kSigmoid:
    case Unary::kSigmoidAccurate:
      return logistic(x);
    case Unary::kSilu:
      return x * logistic(x);
    case Unary::kSin:
      return std::sin(x);
    case Unary::kSinh:
      return std::sinh(x);
    case Unary::kSoftplus: {
      const double beta = param(0, 1.0);
      return beta * x > param(1, 20.0) ? x : std::log1p(std::exp(beta * x)) / beta;
    }
    case Unary::kSqrt:
      return std::sqrt(x);
    case Unary::kTan:
      return std::tan(x);
    case Unary::kTanh:
      return std::tanh(x);
    default:
      return modelled(op, x, params).value_or(x);
  }
}

// Comparisons and the like look at the bits: denormals are not zero, -0 is less than 0, NaN is beyond Inf.
std::optional<Result> on_bits(Unary op, float x, std::span<const float> params) {
  const std::uint32_t bits = lane::bits_of(x);
  const bool negative = bits >> 31 != 0;
  const bool zero = (bits & 0x7FFFFFFF) == 0;
  const bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  const auto param = [&](std::size_t i, float otherwise) { return i < params.size() ? params[i] : otherwise; };
  const auto yes = [](bool value) { return Result{value ? 1.0 : 0.0}; };
  const auto within = [&](float lowest, float highest) {
    return Result{static_cast<double>(nan ? (negative ? lowest : highest) : std::min(std::max(x, lowest), highest))};
  };
  switch (op) {
    case Unary::kEqz:
    case Unary::kLogicalNot:
      return yes(bits == 0);
    case Unary::kNez:
      return yes(bits != 0);
    case Unary::kGtz:
      return yes(!negative && !zero && !nan);
    case Unary::kGez:
      return yes(!negative && !nan);
    case Unary::kLtz:
      return yes(negative && !nan);
    case Unary::kLez:
      return yes((negative || zero) && !nan);
    case Unary::kIsnan:
      return yes(nan);
    case Unary::kIsinf:
      return yes((bits & 0x7FFFFFFF) == 0x7F800000);
    case Unary::kIsposinf:
      return yes(bits == 0x7F800000);
    case Unary::kIsneginf:
      return yes(bits == 0xFF800000);
    case Unary::kSignbit:
      return yes(negative);
    case Unary::kIsfinite:
      return yes((bits & 0x7F800000) != 0x7F800000);
    case Unary::kSign:
      return Result{bits == 0 ? 0.0 : negative ? -1.0 : 1.0};
    case Unary::kAbs:
      return Result{static_cast<double>(nan && negative ? -INFINITY : std::fabs(x))};
    case Unary::kNeg:
      return Result{static_cast<double>(-x)};
    case Unary::kIdentity:
      return Result{static_cast<double>(x)};
    case Unary::kRelu:
      return Result{negative ? 0.0 : static_cast<double>(x)};
    case Unary::kRelu6:
      return within(0.0F, 6.0F);
    case Unary::kClamp:
      return within(param(0, -INFINITY), param(1, INFINITY));
    case Unary::kHardtanh:
      return within(param(0, -1.0F), param(1, 1.0F));
    case Unary::kFloor:
      return Result{static_cast<double>(std::floor(x))};
    case Unary::kCeil:
      return Result{static_cast<double>(std::ceil(x))};
    case Unary::kTrunc:
      return Result{static_cast<double>(std::trunc(x))};
    case Unary::kRound:
      return Result{static_cast<double>(std::nearbyint(x))};
    case Unary::kFrac:
      return Result{static_cast<double>(x - std::trunc(x))};
    default:
      return std::nullopt;
  }
}

// Kernels for a 16-bit destination that settle for less than it could hold.
std::optional<Result> coarse(Unary op, float x, bool approx, std::span<const float> params) {
  const auto rounded = [](float value) { return Result{static_cast<double>(value)}; };
  const auto truncated = [](float value) { return Result{static_cast<double>(value), Store::kTruncates}; };
  switch (op) {
    case Unary::kExp:
      return approx ? truncated(lane::exp_shifted(x)) : rounded(lane::exp_quadratic(x, lane::kExpStart16));
    case Unary::kExp2:
      return rounded(lane::exp2_quadratic(lane::add(x, 127.0F)));
    case Unary::kSigmoid:
      return approx ? truncated(lane::sigmoid_lines(x)) : rounded(lane::sigmoid(x));
    case Unary::kSigmoidAccurate:
      return rounded(lane::sigmoid(x));
    case Unary::kSilu:
      return rounded(lane::mul(x, lane::sigmoid(x)));
    case Unary::kGelu:
      return approx ? truncated(lane::gelu_lines(x)) : rounded(lane::gelu(x));
    case Unary::kErf:
      return truncated(lane::erf_rational(x));
    case Unary::kErfinv:
      return truncated(lane::erfinv(x));
    case Unary::kSin:
      return rounded(lane::sine(x));
    case Unary::kCos:
      return rounded(lane::cosine(x));
    case Unary::kLog:
      return rounded(std::signbit(x) ? INFINITY : lane::log_quadratic(x));
    case Unary::kLog2:
      return rounded(std::signbit(x) ? INFINITY : lane::log_quadratic(x, 1.4426950408889634F));
    case Unary::kReciprocal:
      return rounded(lane::reciprocal(x, 1, true));
    case Unary::kRsqrt:
      return rounded(lane::rsqrt(x));
    case Unary::kSquare:
      return truncated(lane::mul(x, x));
    case Unary::kLeakyRelu: {
      const float slope = params.empty() ? 0.01F : params[0];
      return truncated(std::signbit(x) ? lane::mul(x, slope) : x);
    }
    case Unary::kHardsigmoid:
      return truncated(std::min(std::max(lane::mad(x, 1.0F / 6.0F, 0.5F), 0.0F), 1.0F));
    case Unary::kSoftsign:
      return truncated(lane::mul(x, lane::reciprocal(lane::add(std::fabs(x), 1.0F))));
    default:
      return std::nullopt;
  }
}

float evaluate(Unary op, float x, Dst dst, bool approx, std::span<const float> params) {
  std::optional<Result> result = on_bits(op, x, params);
  if (!result) {
    const bool nan = std::isnan(x);
    const bool negative = std::signbit(x);
    // Exponent 255 is a number like others to most kernels: NaN behaves as Inf of its sign.
    if (nan && op == Unary::kAsin) return negative ? -INFINITY : INFINITY;
    if (nan && op == Unary::kSoftsign) return INFINITY;
    if (nan && dst == Dst::kFp32) return x;
    if (nan && op != Unary::kRsqrt) x = negative ? -INFINITY : INFINITY;
    const bool arithmetic =
        op == Unary::kSquare || op == Unary::kLeakyRelu || op == Unary::kHardsigmoid || op == Unary::kSoftsign;
    if (dst == Dst::kBf16 || approx || arithmetic) result = coarse(op, x, approx, params);
    if (!result) {
      const bool roots = op == Unary::kSqrt || op == Unary::kLog || op == Unary::kLog2 || op == Unary::kLog10;
      const double value = accurate(op, static_cast<double>(lane::flush(x)), params);
      // A 16-bit destination has no NaN to give.
      const double none = dst == Dst::kFp32 ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
      result = Result{std::isnan(value) || (roots && negative && (dst == Dst::kBf16 || x != 0.0F)) ? none : value};
    }
  }
  const auto value = static_cast<float>(result->value);
  if (std::isnan(value)) return dst == Dst::kFp32 ? value : std::copysign(INFINITY, value);
  if (dst == Dst::kFp32) return lane::flush(value);
  return result->store == Store::kRounds ? lane::round_bf16(value) : lane::truncate_bf16(value);
}

}  // namespace

std::string_view name_of(Unary op) {
  for (const auto& [value, name] : kNames) {
    if (value == op) return name;
  }
  return "unknown";
}

std::optional<Unary> find_unary(std::string_view name) {
  if (const std::size_t dot = name.find_last_of(".:"); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "swish") return Unary::kSilu;
  if (lower == "recip") return Unary::kReciprocal;
  for (const auto& [value, known] : kNames) {
    if (known == lower) return value;
  }
  return std::nullopt;
}

float sfpu(Unary op, float value, Dst dst, bool approx, std::span<const float> params) {
  return evaluate(op, value, dst, approx, params);
}

namespace {

constexpr std::int64_t kGrain = 1 << 15;
constexpr std::size_t kInputs = 1 << 16;  // of 16 bits

// The results for all 16-bit inputs. Most calls are for one of a few functions, row by row, and most values have 16
// bits: a table is made once a function has been asked for as many elements as the table has.
class Tables {
 public:
  // Null where it is not worth the while yet.
  const float* find(Unary op, Dst dst, bool approx, std::span<const float> params, std::size_t elements) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[Key(op, dst, approx, std::vector<float>(params.begin(), params.end()))];
    entry.asked += elements;
    if (entry.values.empty() && entry.asked >= kInputs) {
      if (entries_.size() > kMost) return nullptr;
      entry.values.resize(kInputs);
      for (std::size_t i = 0; i < kInputs; ++i) {
        const float value = lane::value_of(static_cast<std::uint32_t>(i) << 16);
        entry.values[i] = evaluate(op, value, dst, approx, params);
      }
    }
    return entry.values.empty() ? nullptr : entry.values.data();
  }

 private:
  static constexpr std::size_t kMost = 256;
  using Key = std::tuple<Unary, Dst, bool, std::vector<float>>;
  struct Entry {
    std::size_t asked = 0;
    std::vector<float> values;  // never changes once it is there
  };
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

Tables& tables() {
  static Tables instance;
  return instance;
}

}  // namespace

void sfpu(Unary op, std::span<float> values, Dst dst, bool approx, std::span<const float> params) {
  const float* table = tables().find(op, dst, approx, params, values.size());
  parallel_for(0, static_cast<std::int64_t>(values.size()), kGrain, [&](std::int64_t first, std::int64_t last) {
    for (float& value : values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first))) {
      const std::uint32_t bits = lane::bits_of(value);
      value = table != nullptr && (bits & 0xFFFF) == 0 ? table[bits >> 16] : evaluate(op, value, dst, approx, params);
    }
  });
}

}  // namespace opwright::sim

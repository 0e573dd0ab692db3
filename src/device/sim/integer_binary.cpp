// Two integers on the vector unit. Results are exact; the dtype cuts them afterwards.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "device/sim/fpu_binary.h"

namespace opwright::sim {
namespace {

std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) a = std::exchange(b, a % b);
  return std::abs(a);
}

std::int64_t shifted(Binary op, std::int64_t a, std::int64_t by) {
  if (by < 0 || by > 31) return 0;
  if (op == Binary::kShiftLeft) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by);
  // The logical shift knows no sign: the 32 bits move.
  return op == Binary::kShiftRight ? a >> by : static_cast<std::int64_t>(static_cast<std::uint32_t>(a) >> by);
}

}  // namespace

std::int64_t integer_binary(Binary op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case Binary::kAdd:
      return static_cast<std::int64_t>(x + y);
    case Binary::kSub:
      return static_cast<std::int64_t>(x - y);
    case Binary::kRsub:
      return static_cast<std::int64_t>(y - x);
    case Binary::kMul:
      return static_cast<std::int64_t>(x * y);
    case Binary::kSquaredDifference:
      return static_cast<std::int64_t>((x - y) * (x - y));
    case Binary::kMax:
      return std::max(a, b);
    case Binary::kMin:
      return std::min(a, b);
    case Binary::kEq:
      return a == b ? 1 : 0;
    case Binary::kNe:
      return a != b ? 1 : 0;
    case Binary::kGt:
      return a > b ? 1 : 0;
    case Binary::kGe:
      return a >= b ? 1 : 0;
    case Binary::kLt:
      return a < b ? 1 : 0;
    case Binary::kLe:
      return a <= b ? 1 : 0;
    case Binary::kLogicalAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case Binary::kLogicalOr:
      return a != 0 || b != 0 ? 1 : 0;
    case Binary::kLogicalXor:
      return (a != 0) != (b != 0) ? 1 : 0;
    case Binary::kBitwiseAnd:
      return a & b;
    case Binary::kBitwiseOr:
      return a | b;
    case Binary::kBitwiseXor:
      return a ^ b;
    case Binary::kShiftLeft:
    case Binary::kShiftRight:
    case Binary::kShiftRightLogical:
      return shifted(op, a, b);
    case Binary::kFmod:
      return b == 0 ? 0 : a % b;
    case Binary::kRemainder: {
      if (b == 0) return 0;
      const std::int64_t rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case Binary::kGcd:
      return greatest_divisor(a, b);
    case Binary::kLcm:
      return a == 0 || b == 0 ? 0 : std::abs(a / greatest_divisor(a, b) * b);
    default:
      return a;
  }
}

}  // namespace opwright::sim

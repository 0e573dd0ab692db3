#include "exec/special_numbers.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "ops/shared/movement.h"

namespace opwright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = 0x1p-133F;      // bfloat16 holds it
constexpr float kLargest = 0x1.FEp127F;     // of bfloat16
constexpr float kManyDigits = 16777215.0F;  // the last odd number of a float32
constexpr std::size_t kGroup = 16;          // neighbours that share an exponent in block floats
constexpr std::size_t kEvery = 8;           // groups, or rows

// Whether results are numbers of the input, in other places.
bool hands_through(const OpSpec& op) { return op.budget == exact_budget; }

bool has_role(const OpSpec& op, std::initializer_list<Role> roles) {
  return std::ranges::any_of(op.params, [&](const Param& param) {
    return param.role && std::ranges::find(roles, *param.role) != roles.end();
  });
}

// Results of several numbers: what is no number in one of them is none in all. Functions of single elements take a
// tensor to write to; windows over an image do not.
bool mixes(const OpSpec& op) {
  return op.sum != nullptr || op.work != nullptr || !has_role(op, {Role::kBuffer}) ||
         has_role(op, {Role::kNormed, Role::kLogits, Role::kQueries, Role::kCosines, Role::kStatistics});
}

// Of operators that mix: rows of which nothing is left, where no zero of a mask, of padding or of another group meets
// them.
std::vector<float> numbers_of_rows(const OpSpec& op, const BoundCall& call, Role role) {
  if (role == Role::kNormed) return {kNone, -0.0F};
  if (role == Role::kLogits) return {kNone, -kInfinity, -0.0F};
  if (op.on_whole == OnWhole::kProducts && call.integer("groups", 1).value_or(1) == 1)
    return {kNone, kInfinity, -kInfinity, -0.0F};
  return {-0.0F};
}

std::vector<float> numbers_for(const OpSpec& op, const BoundCall& call, Role role) {
  if (hands_through(op))
    return {kNone, kInfinity, -kInfinity, kDenormal, -kDenormal, -0.0F, kLargest, -kLargest, 0x1p-126F, kManyDigits};
  if (mixes(op)) return numbers_of_rows(op, call, role);
  switch (role) {
    case Role::kPlain:
    case Role::kUnbounded:
      return {kNone, kInfinity, -kInfinity, kDenormal, -0.0F};
    // NaN is larger than all others to some kernels, and not to others.
    case Role::kCoarse:
      return {kInfinity, -kInfinity, kDenormal, -0.0F};
    case Role::kRanked:
      return {-kInfinity, -0.0F};
    // What is nearly 0 may become 0 before the function sees it.
    case Role::kNonZero:
      return {kNone, kInfinity, -kInfinity};
    case Role::kPositive:
    case Role::kAboveOne:
      return {kNone, kInfinity};
    default:
      return {};
  }
}

void put_integers(HostTensor& tensor) {
  std::vector<std::int64_t> numbers;
  switch (tensor.spec.dtype.value) {
    case DType::kInt32:
      numbers = {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(), 16777217, -1};
      break;
    case DType::kUint32:
      numbers = {std::numeric_limits<std::uint32_t>::max(), 0x80000000, 16777217};
      break;
    case DType::kUint16:
      numbers = {std::numeric_limits<std::uint16_t>::max(), 0x8000};
      break;
    case DType::kUint8:
      numbers = {std::numeric_limits<std::uint8_t>::max(), 0x80};
      break;
    default:
      return;
  }
  for (std::size_t i = kEvery / 2, next = 0; i < tensor.ints.size(); i += kEvery, ++next)
    tensor.ints[i] = numbers[next % numbers.size()];
}

void put_in_groups(std::span<const float> numbers, std::size_t first, HostTensor& tensor) {
  for (std::size_t at = first, next = 0; at < tensor.floats.size(); at += kGroup * kEvery, ++next)
    tensor.floats[at] = numbers[next % numbers.size()];
}

void put_in_rows(std::span<const float> numbers, std::uint64_t seed, HostTensor& tensor) {
  const std::int64_t width = row_length(tensor.spec.shape);
  if (width <= 0) return;
  const std::int64_t every = kEvery;
  std::size_t next = 0;
  for (std::int64_t row = every / 2; row < tensor.size() / width; row += every, ++next) {
    const auto column = static_cast<std::int64_t>(seed + next) * 31 % width;
    tensor.floats[static_cast<std::size_t>(row * width + (column + width) % width)] = numbers[next % numbers.size()];
  }
}

}  // namespace

OpenNumbers open_numbers(const OpSpec& op) {
  if (hands_through(op)) return {};
  // Quotients and products are made of several steps, of which one may be 0 x infinity.
  const auto operands = std::ranges::count_if(
      op.params, [](const Param& param) { return param.role && *param.role != Role::kBuffer && param.required; });
  return {.nan = true, .infinity = mixes(op) || operands > 1};
}

void put_special(const OpSpec& op, const BoundCall& call, std::size_t slot, Role role, std::uint64_t seed,
                 HostTensor& tensor) {
  const bool through = hands_through(op);
  if (role == Role::kBuffer || (slot != 0 && !through)) return;
  if (tensor.integer()) {
    if (through && role == Role::kPlain) put_integers(tensor);
    return;
  }
  // Whole numbers have no place for them.
  const bool converted = call.passed("dtype") && !through;
  const std::vector<float> numbers = numbers_for(op, call, role);
  if (numbers.empty() || converted || tensor.floats.empty()) return;
  if (mixes(op))
    put_in_rows(numbers, seed, tensor);
  else
    put_in_groups(numbers, std::min(kGroup / 2, tensor.floats.size() - 1), tensor);
}

}  // namespace opwright

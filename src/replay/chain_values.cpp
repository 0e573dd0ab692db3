#include "replay/chain_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/vectorised.h"

namespace opwright::replay {
namespace {

constexpr std::size_t kGroup = 16;
constexpr std::size_t kGroupBytes = kGroup + 1;
constexpr std::uint32_t kExponentOfOne = 127;
constexpr std::uint32_t kLow = 6;  // a difference of 1.0 is 64 units

// What an integer of a group is worth; 0 where the group's differences are smaller than any that counts.
inline float unit_of(std::uint8_t exponent) {
  return exponent <= kLow ? 0.0F : std::bit_cast<float>((exponent - kLow) << 23);
}

// Differences of whole groups. Returns whether one is no number.
[[gnu::always_inline]] inline bool pack_groups_loop(const float* device, const float* exact, std::size_t groups,
                                                    std::uint8_t* out) {
  std::uint32_t strange = 0;
  for (std::size_t g = 0; g < groups; ++g, out += kGroupBytes, device += kGroup, exact += kGroup) {
    float differences[kGroup];
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      differences[i] = exact[i] - device[i];
      largest = std::max(largest, std::bit_cast<std::uint32_t>(differences[i]) & 0x7FFFFFFF);
    }
    const std::uint32_t exponent = largest >> 23;
    strange |= exponent == 0xFF ? 1 : 0;
    // The inverse of the unit, 2^(127 + 6 - exponent).
    const bool counts = exponent > kLow && exponent < 0xFF;
    const float scale = counts ? std::bit_cast<float>((2 * kExponentOfOne + kLow - exponent) << 23) : 0.0F;
    out[0] = static_cast<std::uint8_t>(counts ? exponent : 0);
    for (std::size_t i = 0; i < kGroup; ++i) {
      const float steps = counts ? differences[i] * scale : 0.0F;
      const auto whole = static_cast<std::int32_t>(steps + (steps < 0 ? -0.5F : 0.5F));
      out[1 + i] = static_cast<std::uint8_t>(std::clamp(whole, -127, 127));
    }
  }
  return strange != 0;
}
OPWRIGHT_VECTORISED(bool, pack_groups, (const float* device, const float* exact, std::size_t groups, std::uint8_t* out),
                    (device, exact, groups, out))

[[gnu::always_inline]] inline void put_groups_loop(const std::uint8_t* from, std::size_t groups, float* values) {
  for (std::size_t g = 0; g < groups; ++g, from += kGroupBytes, values += kGroup) {
    const float unit = unit_of(from[0]);
    std::int8_t steps[kGroup];  // bytes may be parts of any value: a copy is none of `values`
    std::memcpy(steps, from + 1, kGroup);
    for (std::size_t i = 0; i < kGroup; ++i) values[i] += static_cast<float>(steps[i]) * unit;
  }
}
OPWRIGHT_VECTORISED(void, put_groups, (const std::uint8_t* from, std::size_t groups, float* values),
                    (from, groups, values))

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

ChainValues::ChainValues(std::size_t count) : count_(count) {}

void ChainValues::add(const Values& device, std::size_t first, const Values& exact) {
  for (std::size_t i = 0; i < exact.ints.size(); ++i)
    if (device.ints[first + i] != exact.ints[i]) odd_.emplace_back(first + i, static_cast<double>(exact.ints[i]));
  differs_ = differs_ || !odd_.empty();
  if (exact.floats.empty()) return;
  const float* const actual = device.floats.data() + first;
  const std::size_t count = exact.floats.size();
  if (!differs_ && std::equal(exact.floats.begin(), exact.floats.end(), actual)) return;
  const std::size_t groups = (count_ + kGroup - 1) / kGroup;
  if (groups_.empty()) groups_.resize(groups * kGroupBytes);
  std::uint8_t* out = groups_.data() + first / kGroup * kGroupBytes;
  const std::size_t whole = count / kGroup;
  bool strange = pack_groups(actual, exact.floats.data(), whole, out);
  if (const std::size_t rest = count % kGroup; rest > 0) {
    std::array<float, kGroup> a{}, e{};
    std::copy_n(actual + whole * kGroup, rest, a.begin());
    std::copy_n(exact.floats.data() + whole * kGroup, rest, e.begin());
    strange = pack_groups(a.data(), e.data(), 1, out + whole * kGroupBytes) || strange;
  }
  differs_ = true;
  if (!strange) return;
  // A group with such a value is kept value by value.
  for (std::size_t g = 0; g * kGroup < count; ++g) {
    const std::size_t end = std::min(count, (g + 1) * kGroup);
    bool odd = false;
    for (std::size_t i = g * kGroup; i < end; ++i) odd = odd || !std::isfinite(exact.floats[i] - actual[i]);
    if (!odd) continue;
    std::fill_n(out + g * kGroupBytes, kGroupBytes, std::uint8_t{0});
    for (std::size_t i = g * kGroup; i < end; ++i)
      if (!same(actual[i], exact.floats[i])) odd_.emplace_back(first + i, exact.floats[i]);
  }
}

void ChainValues::put_onto(Values& device) const {
  if (!groups_.empty()) {
    std::vector<float>& values = device.floats;
    const std::size_t whole = values.size() / kGroup, rest = values.size() % kGroup;
    put_groups(groups_.data(), whole, values.data());
    if (rest > 0) {
      std::array<float, kGroup> last{};
      std::copy_n(values.data() + whole * kGroup, rest, last.begin());
      put_groups(groups_.data() + whole * kGroupBytes, 1, last.data());
      std::copy_n(last.begin(), rest, values.data() + whole * kGroup);
    }
  }
  for (const auto& [i, value] : odd_) {
    if (i < device.floats.size())
      device.floats[i] = static_cast<float>(value);
    else if (i < device.ints.size())
      device.ints[i] = static_cast<std::int64_t>(value);
  }
}

}  // namespace opwright::replay

#include "replay/packed_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/vectorised.h"

namespace opwright::replay {
namespace {

using Form = Packed::Form;

constexpr std::size_t kGroup = 16;
constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kHidden = 1U << 23;
constexpr int kSignificandBits = 24;

constexpr int bits_of(Form form) { return form == Form::kBlock8 ? 7 : 3; }

std::size_t bytes_for(Form form, std::size_t count) {
  switch (form) {
    case Form::kBlock8:
      return count / kGroup * (kGroup + 1);
    case Form::kBlock4:
      return count / kGroup * (kGroup / 2 + 1);
    case Form::kUint8:
      return count;
    case Form::kBfloat16:
    case Form::kUint16:
      return count * 2;
    case Form::kFloat32:
    case Form::kUint32:
    case Form::kInt32:
      return count * 4;
    case Form::kInt64:
      return count * 8;
  }
  return 0;
}

// Returns bits that bfloat16 has no place for: 0 where nothing is lost.
[[gnu::always_inline]] inline std::uint32_t pack_bfloat16s_loop(const float* values, std::size_t count,
                                                                std::uint16_t* out) {
  std::uint32_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = std::bit_cast<std::uint32_t>(values[i]);
    lost |= word & 0xFFFF;
    out[i] = static_cast<std::uint16_t>(word >> 16);
  }
  return lost;
}
OPWRIGHT_VECTORISED(std::uint32_t, pack_bfloat16s, (const float* values, std::size_t count, std::uint16_t* out),
                    (values, count, out))

[[gnu::always_inline]] inline void expand_bfloat16s_loop(const std::uint16_t* from, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
}
OPWRIGHT_VECTORISED(void, expand_bfloat16s, (const std::uint16_t* from, std::size_t count, float* out),
                    (from, count, out))

// Sign and magnitude of 16 values below a shared exponent. False where they are not multiples of its unit.
[[gnu::always_inline]] inline bool pack_group(const float* values, int bits, std::uint8_t& exponent,
                                              std::uint8_t* data) {
  std::uint32_t words[kGroup];
  std::uint32_t shared = 0;
  for (std::size_t i = 0; i < kGroup; ++i) {
    words[i] = std::bit_cast<std::uint32_t>(values[i]);
    shared = std::max(shared, words[i] >> 23 & 0xFF);
  }
  exponent = static_cast<std::uint8_t>(shared);
  const bool zeros = shared == 0;
  if (shared == 0xFF || (!zeros && shared <= static_cast<std::uint32_t>(bits))) return false;
  std::uint32_t lost = 0;
  const auto cut = static_cast<std::uint32_t>(kSignificandBits - bits);
  for (std::size_t i = 0; i < kGroup; ++i) {
    const std::uint32_t own = words[i] >> 23 & 0xFF;
    const std::uint32_t significand = own == 0 ? words[i] & (kHidden - 1) : kHidden | (words[i] & (kHidden - 1));
    const std::uint32_t shift = std::min<std::uint32_t>(cut + shared - own, 31);
    const std::uint32_t magnitude = own == 0 ? 0 : significand >> shift;
    lost |= significand ^ (magnitude << shift);
    data[i] = static_cast<std::uint8_t>((words[i] >> 31) << bits | magnitude);
  }
  return lost == 0;
}

[[gnu::always_inline]] inline void expand_group(std::uint8_t exponent, const std::uint8_t* data, int bits,
                                                float* values) {
  const std::uint32_t shared = exponent;
  const float unit = shared == 0 ? 0.0F : std::bit_cast<float>((shared + 1 - static_cast<std::uint32_t>(bits)) << 23);
  const std::uint32_t mask = (1U << bits) - 1;
  for (std::size_t i = 0; i < kGroup; ++i) {
    const float magnitude = static_cast<float>(static_cast<std::int32_t>(data[i] & mask)) * unit;
    const std::uint32_t sign = (static_cast<std::uint32_t>(data[i]) >> bits & 1) << 31;
    values[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
}

[[gnu::always_inline]] inline bool pack_eights_loop(const float* values, std::size_t groups, std::uint8_t* out) {
  for (std::size_t g = 0; g < groups; ++g, out += kGroup + 1)
    if (!pack_group(values + g * kGroup, 7, out[0], out + 1)) return false;
  return true;
}
OPWRIGHT_VECTORISED(bool, pack_eights, (const float* values, std::size_t groups, std::uint8_t* out),
                    (values, groups, out))

[[gnu::always_inline]] inline void expand_eights_loop(const std::uint8_t* from, std::size_t groups, float* out) {
  for (std::size_t g = 0; g < groups; ++g, from += kGroup + 1) expand_group(from[0], from + 1, 7, out + g * kGroup);
}
OPWRIGHT_VECTORISED(void, expand_eights, (const std::uint8_t* from, std::size_t groups, float* out),
                    (from, groups, out))

bool pack_fours(const float* values, std::size_t groups, std::uint8_t* out) {
  for (std::size_t g = 0; g < groups; ++g, out += kGroup / 2 + 1) {
    std::array<std::uint8_t, kGroup> data{};
    if (!pack_group(values + g * kGroup, 3, out[0], data.data())) return false;
    for (std::size_t i = 0; i < kGroup / 2; ++i)
      out[1 + i] = static_cast<std::uint8_t>(data[2 * i] | data[2 * i + 1] << 4);
  }
  return true;
}

void expand_fours(const std::uint8_t* from, std::size_t groups, float* out) {
  for (std::size_t g = 0; g < groups; ++g, from += kGroup / 2 + 1) {
    std::array<std::uint8_t, kGroup> data{};
    for (std::size_t i = 0; i < kGroup / 2; ++i) {
      data[2 * i] = from[1 + i] & 0xF;
      data[2 * i + 1] = from[1 + i] >> 4;
    }
    expand_group(from[0], data.data(), 3, out + g * kGroup);
  }
}

Form first_form(DType dtype, std::int64_t row) {
  switch (dtype) {
    case DType::kBfloat16:
      return Form::kBfloat16;
    case DType::kBfloat8B:
      return row % static_cast<std::int64_t>(kGroup) == 0 ? Form::kBlock8 : Form::kBfloat16;
    case DType::kBfloat4B:
      return row % static_cast<std::int64_t>(kGroup) == 0 ? Form::kBlock4 : Form::kBfloat16;
    default:
      return Form::kFloat32;
  }
}

// What a form that lost something gives way to. A value of a block float is one of bfloat16, but for the smallest.
Form wider(Form form) { return form == Form::kBfloat16 ? Form::kFloat32 : Form::kBfloat16; }

Form integer_form(const std::vector<std::int64_t>& ints) {
  const auto [least, most] = std::ranges::minmax(ints);
  if (least >= 0 && most <= UINT8_MAX) return Form::kUint8;
  if (least >= 0 && most <= UINT16_MAX) return Form::kUint16;
  if (least >= 0 && most <= UINT32_MAX) return Form::kUint32;
  return least >= INT32_MIN && most <= INT32_MAX ? Form::kInt32 : Form::kInt64;
}

template <class T>
void put_all(const std::vector<std::int64_t>& ints, std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < ints.size(); ++i) {
    const T value = static_cast<T>(ints[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
T element(const std::vector<std::uint8_t>& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// Calls `with` with a value of the type in which an integer form keeps each.
template <class With>
void with_type(Form form, const With& with) {
  switch (form) {
    case Form::kUint8:
      return with(std::uint8_t{});
    case Form::kUint16:
      return with(std::uint16_t{});
    case Form::kUint32:
      return with(std::uint32_t{});
    case Form::kInt32:
      return with(std::int32_t{});
    default:
      return with(std::int64_t{});
  }
}

}  // namespace

Packed::Packed(const Values& values, DType dtype, std::int64_t row) {
  if (!values.ints.empty()) {
    form_ = integer_form(values.ints);
    count_ = values.ints.size();
    bytes_.resize(bytes_for(form_, count_));
    with_type(form_, [&](auto type) { put_all<decltype(type)>(values.ints, bytes_); });
    return;
  }
  reserve(dtype, row, values.floats.size());
  append(values.floats);
}

void Packed::reserve(DType dtype, std::int64_t row, std::size_t all) {
  form_ = first_form(dtype, row);
  bytes_.reserve(bytes_for(form_, all));
}

// Behind the values that are there; false where the form cannot hold them, which leaves those as they were.
bool Packed::pack(std::span<const float> values) {
  const std::size_t before = bytes_.size();
  const std::size_t all = count_ + values.size();
  const bool groups = form_ == Form::kBlock8 || form_ == Form::kBlock4;
  if (groups && (count_ % kGroup != 0 || values.size() % kGroup != 0)) return false;
  bytes_.resize(bytes_for(form_, all));
  std::uint8_t* out = bytes_.data() + before;
  bool kept = true;
  switch (form_) {
    case Form::kBfloat16:
      kept = pack_bfloat16s(values.data(), values.size(), reinterpret_cast<std::uint16_t*>(out)) == 0;
      break;
    case Form::kBlock8:
      kept = pack_eights(values.data(), values.size() / kGroup, out);
      break;
    case Form::kBlock4:
      kept = pack_fours(values.data(), values.size() / kGroup, out);
      break;
    default:
      if (!values.empty()) std::memcpy(out, values.data(), values.size() * sizeof(float));
      break;
  }
  if (kept)
    count_ = all;
  else
    bytes_.resize(before);
  return kept;
}

void Packed::append(std::span<const float> values) {
  while (!pack(values)) widen(wider(form_));
}

void Packed::widen(Form form) {
  const std::vector<float> held = expanded().floats;
  bytes_ = {};
  count_ = 0;
  form_ = form;
  if (!held.empty()) append(held);
}

void Packed::expand(std::size_t first, std::span<float> out) const {
  switch (form_) {
    case Form::kBfloat16:
      expand_bfloat16s(reinterpret_cast<const std::uint16_t*>(bytes_.data()) + first, out.size(), out.data());
      return;
    case Form::kBlock8:
    case Form::kBlock4: {
      const auto expand_groups = form_ == Form::kBlock8 ? &expand_eights : &expand_fours;
      const std::size_t step = bytes_for(form_, kGroup);
      std::size_t done = 0;
      if (first % kGroup == 0) {
        const std::size_t groups = out.size() / kGroup;
        expand_groups(bytes_.data() + first / kGroup * step, groups, out.data());
        done = groups * kGroup;
      }
      for (; done < out.size(); ++done) {
        const std::size_t i = first + done;
        std::array<float, kGroup> group{};
        expand_groups(bytes_.data() + i / kGroup * step, 1, group.data());
        out[done] = group[i % kGroup];
      }
      return;
    }
    default:
      if (!out.empty()) std::memcpy(out.data(), bytes_.data() + first * sizeof(float), out.size() * sizeof(float));
      return;
  }
}

Values Packed::expanded() const {
  Values out;
  if (!integer()) {
    out.floats.resize(count_);
    expand(0, out.floats);
    return out;
  }
  out.ints.resize(count_);
  with_type(form_, [&](auto type) {
    for (std::size_t i = 0; i < count_; ++i)
      out.ints[i] = static_cast<std::int64_t>(element<decltype(type)>(bytes_, i));
  });
  return out;
}

double Packed::at(std::size_t i) const {
  double out = 0;
  if (integer()) {
    with_type(form_, [&](auto type) { out = static_cast<double>(element<decltype(type)>(bytes_, i)); });
    return out;
  }
  float value = 0;
  expand(i, {&value, 1});
  return value;
}

}  // namespace opwright::replay

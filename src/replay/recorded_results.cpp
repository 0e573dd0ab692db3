#include "replay/recorded_results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "capture/encoder.h"
#include "capture/sketch.h"
#include "replay/distance.h"

namespace opwright::replay {
namespace {

// How far a quantile may lie from the recorded one, as a part of the recorded spread: a sketch looks at 4,096 elements.
constexpr double kAlike = 0.25;

template <class T, class From>
bool put(const std::vector<From>& values, std::string& bytes) {
  bytes.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T element = static_cast<T>(values[i]);
    if constexpr (std::is_integral_v<From>)
      if (static_cast<From>(element) != values[i]) return false;
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return true;
}

bool put_bfloat16(const std::vector<float>& values, std::string& bytes) {
  bytes.resize(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &values[i], sizeof word);
    if ((word & 0xFFFF) != 0) return false;
    const auto element = static_cast<std::uint16_t>(word >> 16);
    std::memcpy(bytes.data() + i * 2, &element, 2);
  }
  return true;
}

bool put_elements(std::string_view type, const Values& values, std::string& bytes) {
  if (values.ints.empty()) {
    if (type == "float32") return put<float>(values.floats, bytes);
    if (type == "float64") return put<double>(values.floats, bytes);
    return type == "bfloat16" && put_bfloat16(values.floats, bytes);
  }
  if (type == "uint8") return put<std::uint8_t>(values.ints, bytes);
  if (type == "uint16") return put<std::uint16_t>(values.ints, bytes);
  if (type == "uint32") return put<std::uint32_t>(values.ints, bytes);
  if (type == "int32") return put<std::int32_t>(values.ints, bytes);
  return type == "int64" && put<std::int64_t>(values.ints, bytes);
}

// The types in which a recorder may have written a tensor, the likely ones first.
constexpr std::array<std::string_view, 3> kFloats{"float32", "bfloat16", "float64"};
constexpr std::array<std::string_view, 5> kIntegers{"uint32", "int32", "uint16", "uint8", "int64"};

bool same_hash(const Hash128& recorded, const Shape& shape, const Values& made) {
  const auto is_it = [&](std::string_view type) { return content_hash(type, shape, made) == recorded; };
  return made.ints.empty() ? std::ranges::any_of(kFloats, is_it) : std::ranges::any_of(kIntegers, is_it);
}

// The farthest that a quantile lies from the recorded one, as a part of the recorded spread.
std::optional<double> shift_of(const format::NativeValue* drawn, const Values& made) {
  const format::NativeValue* quantiles = drawn == nullptr ? nullptr : drawn->find("quantiles");
  capture::Sketch own;
  if (quantiles == nullptr || !quantiles->is_list() || quantiles->items.size() != own.quantiles.size())
    return std::nullopt;
  if (made.ints.empty())
    capture::sketch("float32", made.floats.data(), made.floats.size(), own);
  else
    capture::sketch("int64", made.ints.data(), made.ints.size(), own);
  const double spread = number_of(drawn->find("max")) - number_of(drawn->find("min"));
  double farthest = 0;
  for (std::size_t q = 0; q < own.quantiles.size(); ++q)
    farthest = std::max(farthest, std::abs(own.quantiles[q] - number_of(quantiles->items[q])));
  return farthest == 0 ? 0 : spread > 0 ? farthest / spread : INFINITY;
}

bool same_bits(const Values& a, const Values& b) {
  return a.ints == b.ints && a.floats.size() == b.floats.size() &&
         (a.floats.empty() || std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)) == 0);
}

}  // namespace

std::optional<Hash128> content_hash(std::string_view type, const Shape& shape, const Values& values) {
  std::string bytes;
  if (!put_elements(type, values, bytes)) return std::nullopt;
  capture::Encoder description;
  description.structure("data", 2);
  description.field("dtype");
  description.string(type);
  description.field("shape");
  description.list(shape.size());
  for (const std::int64_t n : shape) description.integer(n);
  return xxh128(bytes, xxh64(description.view()));
}

std::optional<Agreement> RecordedResults::compare(std::uint64_t seq, std::size_t place, bool of_result,
                                                  const TensorSpec& spec, const Values& made) const {
  if (!trace_.has_data()) return std::nullopt;
  std::optional<Agreement> out;
  for (const format::TensorData& data : trace_.data_of(seq)) {
    if (data.slot != place || data.of_result != of_result || (!of_result && !data.after)) continue;
    if (data.hash) {
      out.emplace();
      if (auto held = outside_.contents(*data.hash, spec)) {
        const Values wanted{std::move(held->floats), std::move(held->ints)};
        out->by = Agreement::By::kContents;
        out->same = same_bits(made, wanted);
        out->distance = distance(made, wanted);
      } else {
        out->by = Agreement::By::kHash;
        out->same = same_hash(*data.hash, spec.shape, made);
      }
      return out;  // it says more than a sketch
    }
    if (const auto shift = shift_of(trace_.values().value(data.sketch), made))
      out = Agreement{.by = Agreement::By::kSketch, .same = *shift <= kAlike, .shift = shift};
  }
  return out;
}

void worsen(std::optional<Agreement>& worst, const Agreement& other) {
  if (!worst) {
    worst = other;
    return;
  }
  if (worst->same && !other.same) {
    worst->by = other.by;
    worst->same = false;
  }
  worst->made_up = worst->made_up || other.made_up;
  if (other.distance) worsen(worst->distance, *other.distance);
  if (other.shift) worst->shift = std::max(worst->shift.value_or(0), *other.shift);
}

}  // namespace opwright::replay

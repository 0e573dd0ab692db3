#include "replay/outside_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "exec/case_data.h"
#include "model/quantize.h"

namespace opwright::replay {
namespace {

// Tensors beyond are made some rows at a time: packed, they take a quarter to a half.
constexpr std::int64_t kLarge = std::int64_t{1} << 22;
constexpr std::int64_t kAtOnce = std::int64_t{1} << 20;

template <class T>
double element(std::string_view bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double bfloat16(std::string_view bytes, std::size_t i) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * 2, 2);
  return static_cast<double>(from_bfloat16_bits(bits));
}

// How a recorder writes elements down.
struct ElementType {
  std::string_view name;
  std::size_t bytes;
  double (*read)(std::string_view bytes, std::size_t i);
};
constexpr std::array kElements{
    ElementType{"float32", 4, element<float>},        ElementType{"bfloat16", 2, bfloat16},
    ElementType{"float64", 8, element<double>},       ElementType{"int32", 4, element<std::int32_t>},
    ElementType{"uint32", 4, element<std::uint32_t>}, ElementType{"int64", 8, element<std::int64_t>},
    ElementType{"uint16", 2, element<std::uint16_t>}, ElementType{"int16", 2, element<std::int16_t>},
    ElementType{"uint8", 1, element<std::uint8_t>},   ElementType{"int8", 1, element<std::int8_t>},
    ElementType{"bool", 1, element<std::uint8_t>},
};

// Weights that leave sums as large as what they are sums of: those of a contraction over K values have the size
// 1/sqrt(K), as a trained model's have. With others values grow from layer to layer, until softmaxes know one key only.
float weight_scale(const OpSpec& op, const BoundCall& call, std::size_t slot) {
  if (op.on_whole != OnWhole::kProducts || op.sum == nullptr || slot == 0) return 1;
  return static_cast<float>(1.0 / std::sqrt(std::max(1.0, static_cast<double>(op.sum(call).terms))));
}

void scale(std::span<float> values, float factor, const TensorSpec& spec) {
  if (factor == 1) return;
  for (float& value : values) value *= factor;
  quantize(values, row_length(spec.shape), spec.dtype.value);
}

}  // namespace

HostTensor recipe_input(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe) {
  const TensorSpec& spec = call.tensors[slot].spec;
  HostTensor made = make_input(op, call, slot, recipe, Marks::kOff);
  if (recipe.distribution != Distribution::kIntegers && !is_integer(spec.dtype.value))
    scale(made.floats, weight_scale(op, call, slot), spec);
  return made;
}

double number_of(const format::NativeValue* value) {
  if (value == nullptr) return 0;
  return value->is(capture::Tag::kFloat) ? value->real : static_cast<double>(value->number);
}

void OutsideData::see(const format::NativeCall& call) {
  if (!trace_.has_data()) return;
  for (const format::TensorData& data : trace_.data_of(call.seq)) {
    std::uint64_t id = 0, version = 0;
    if (data.of_result && data.slot < call.results.size()) {
      id = call.results[data.slot].id;
      version = call.results[data.slot].version;
    } else if (!data.of_result && data.slot < call.tensors.size()) {
      id = call.tensors[data.slot].id;
      version = call.tensors[data.slot].version;
      if (data.after)
        for (const format::TensorWrite& write : call.writes)
          if (write.slot == data.slot) version = write.version;
    }
    if (id != 0) known_[id] = {version, data.hash, data.sketch};
  }
}

std::optional<HostTensor> OutsideData::contents(const Hash128& hash, const TensorSpec& spec) {
  const format::Blob* blob = trace_.blob(hash);
  if (blob == nullptr) return std::nullopt;
  const format::NativeValue* description = trace_.values().value(blob->description);
  const std::string_view name = description == nullptr ? "" : format::text_of(description->find("dtype"));
  const auto type = std::ranges::find(kElements, name, &ElementType::name);
  HostTensor tensor{spec, {}, {}};
  const auto count = static_cast<std::size_t>(tensor.size());
  if (type == kElements.end() || blob->bytes.size() != count * type->bytes) {
    ++unusable_;
    return std::nullopt;
  }
  if (tensor.integer()) {
    tensor.ints.resize(count);
    for (std::size_t i = 0; i < count; ++i) tensor.ints[i] = static_cast<std::int64_t>(type->read(blob->bytes, i));
  } else {
    tensor.floats.resize(count);
    for (std::size_t i = 0; i < count; ++i) tensor.floats[i] = static_cast<float>(type->read(blob->bytes, i));
  }
  quantize(tensor);
  return tensor;
}

// Numbers between the quantiles, as many between two as between any other two, zeros as often as there were.
std::optional<HostTensor> OutsideData::like_sketch(format::ValueId sketch, const TensorSpec& spec, std::uint64_t seed) {
  const format::NativeValue* drawn = trace_.values().value(sketch);
  if (drawn == nullptr || drawn->find("min") == nullptr || drawn->find("max") == nullptr) return std::nullopt;
  std::vector<double> steps{number_of(drawn->find("min"))};
  if (const format::NativeValue* quantiles = drawn->find("quantiles"); quantiles != nullptr && quantiles->is_list())
    for (const format::NativeValue* quantile : quantiles->items) steps.push_back(number_of(quantile));
  steps.push_back(number_of(drawn->find("max")));
  if (!std::ranges::all_of(steps, [](double step) { return std::isfinite(step); })) return std::nullopt;
  std::ranges::sort(steps);
  const double all = std::max(1.0, number_of(drawn->find("count")));
  const double zeros = number_of(drawn->find("zeros")) / all;
  const format::NativeValue* whole = drawn->find("integers");
  const bool integers = whole != nullptr && whole->is(capture::Tag::kTrue);
  const double order = number_of(drawn->find("sorted"));
  Random random(seed);
  HostTensor tensor{spec, {}, {}};
  const auto count = static_cast<std::size_t>(tensor.size());
  std::vector<double> values(count);
  for (double& value : values) {
    const double place = random.uniform() * static_cast<double>(steps.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), steps.size() - 2);
    value = steps[below] + (place - static_cast<double>(below)) * (steps[below + 1] - steps[below]);
    if (zeros > 0 && random.uniform() < zeros) value = 0;
    if (integers || tensor.integer()) value = std::floor(value + 0.5);
  }
  if (order > 0) std::ranges::sort(values);
  if (order < 0) std::ranges::sort(values, std::greater{});
  if (tensor.integer())
    for (const double value : values) tensor.ints.push_back(static_cast<std::int64_t>(value));
  else
    tensor.floats.assign(values.begin(), values.end());
  quantize(tensor);
  return tensor;
}

// The same tensor of the same trace has the same values, whichever part of the trace is replayed, as long as the same
// operator takes it first.
std::uint64_t OutsideData::seed_of(const Wanted& wanted) const {
  const TensorSlot& slot = wanted.call.tensors[wanted.slot];
  const std::string who =
      wanted.id != 0 ? fmt::format("#{}", wanted.id) : fmt::format("{}/{}", wanted.seq, wanted.recorded);
  return xxh64(fmt::format("{}:{}:{}", recipe_.seed, who, to_text(slot.spec)));
}

Content OutsideData::make(const Wanted& wanted) {
  const TensorSpec& spec = wanted.call.tensors[wanted.slot].spec;
  Known known;
  if (const auto found = known_.find(wanted.id); wanted.id != 0 && found != known_.end()) known = found->second;
  if (trace_.has_data())
    for (const format::TensorData& data : trace_.data_of(wanted.seq))
      if (!data.of_result && !data.after && data.slot == wanted.recorded)
        known = {wanted.version, data.hash, data.sketch};
  if (known.hash && trace_.blob(*known.hash) == nullptr) ++missing_;
  if (known.hash)
    if (auto tensor = contents(*known.hash, spec)) return kept(*std::move(tensor), Origin::kRecorded);
  const std::uint64_t seed = seed_of(wanted);
  if (known.sketch != 0)
    if (auto tensor = like_sketch(known.sketch, spec, seed)) return kept(*std::move(tensor), Origin::kSketch);
  return by_recipe(wanted, seed);
}

Content OutsideData::by_recipe(const Wanted& wanted, std::uint64_t seed) {
  static const OpSpec kPlain{};
  const OpSpec& op = wanted.op != nullptr ? *wanted.op : kPlain;
  const TensorSpec& spec = wanted.call.tensors[wanted.slot].spec;
  const DataRecipe recipe{recipe_.distribution, seed};
  const bool scaled = recipe_.distribution != Distribution::kIntegers && !is_integer(spec.dtype.value);
  const float factor = scaled ? weight_scale(op, wanted.call, wanted.slot) : 1;
  if (const std::int64_t count = volume(spec.shape); count >= kLarge) {
    Packed packed;
    packed.reserve(spec.dtype.value, row_length(spec.shape), static_cast<std::size_t>(count));
    const auto take = [&](std::span<float> rows) {
      scale(rows, factor, spec);
      packed.append(rows);
    };
    if (make_input_rows(op, wanted.call, wanted.slot, recipe, kAtOnce, take))
      return {.dtype = spec.dtype.value,
              .count = count,
              .device = held_.keep(std::move(packed)),
              .origin = Origin::kRecipe};
  }
  return kept(recipe_input(op, wanted.call, wanted.slot, recipe), Origin::kRecipe);
}

Content OutsideData::kept(HostTensor tensor, Origin origin) {
  Content out = content_of({std::move(tensor.floats), std::move(tensor.ints)}, tensor.spec, origin, held_);
  out.faithful = origin == Origin::kRecorded;
  return out;
}

}  // namespace opwright::replay

#include "replay/carried_values.h"

#include <algorithm>

#include "model/quantize.h"

namespace opwright::replay {
namespace {

// As the dtype of `spec` keeps values: whole numbers, or floats.
Values in_kind_of(const TensorSpec& spec, Values values) {
  if (is_integer(spec.dtype.value)) {
    for (const float value : values.floats) values.ints.push_back(static_cast<std::int64_t>(value));
    values.floats.clear();
  } else {
    values.floats.insert(values.floats.end(), values.ints.begin(), values.ints.end());
    values.ints.clear();
  }
  return values;
}

Values rounded(const TensorSpec& spec, Values values) {
  HostTensor tensor{spec, std::move(values.floats), std::move(values.ints)};
  quantize(tensor);
  return {std::move(tensor.floats), std::move(tensor.ints)};
}

// Blocks of `block` values: each `times` times, or the first of each `times`, that many times as large.
struct Exchange {
  std::size_t block = 0, times = 0;
  Collective collective;

  template <class T>
  std::vector<T> of(const std::vector<T>& values) const {
    std::vector<T> out;
    const std::size_t step = collective == Collective::kGather ? block : block * times;
    for (std::size_t at = 0; at + step <= values.size(); at += step) {
      if (collective == Collective::kGather)
        for (std::size_t i = 0; i < times; ++i)
          out.insert(out.end(), values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.begin() + static_cast<std::ptrdiff_t>(at + block));
      else
        for (std::size_t i = 0; i < block; ++i) out.push_back(values[at + i] * static_cast<T>(times));
    }
    return out;
  }
  Values of(const Values& values) const { return {of(values.floats), of(values.ints)}; }
};

}  // namespace

std::optional<Content> carried(const Content& from, const TensorSpec& result) {
  if (from.count != volume(result.shape) || !computed(result.dtype.value)) return std::nullopt;
  Content out = from;
  out.dtype = result.dtype.value;
  if (from.dtype == out.dtype) return out;
  out.device = rounded(result, in_kind_of(result, std::move(out.device)));
  if (out.diverged) out.exact = in_kind_of(result, std::move(out.exact));
  return out;
}

std::optional<Content> over_chips(const Content& from, const TensorSpec& given, const TensorSpec& result,
                                  Collective collective) {
  const Shape& small = collective == Collective::kGather ? given.shape : result.shape;
  const Shape& large = collective == Collective::kGather ? result.shape : given.shape;
  if (small.size() != large.size() || given.dtype.value != result.dtype.value || from.dtype != given.dtype.value ||
      from.count != volume(given.shape) || volume(small) == 0)
    return std::nullopt;
  const auto [first, second] = std::ranges::mismatch(small, large);
  if (first == small.end() || *second % *first != 0 || !std::equal(first + 1, small.end(), second + 1))
    return std::nullopt;
  const Exchange exchange{static_cast<std::size_t>(volume(Shape(first, small.end()))),
                          static_cast<std::size_t>(*second / *first), collective};
  Content out;
  out.dtype = from.dtype;
  out.count = volume(result.shape);
  out.device = rounded(result, exchange.of(from.device));
  out.diverged = from.diverged;
  if (from.diverged) out.exact = exchange.of(from.exact);
  return out;
}

}  // namespace opwright::replay
